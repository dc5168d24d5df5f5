"""Describe a small Linux that is made of this machine's own programs, for boxes without an image.

It has the programs of this machine, read-only, and nothing else of it: its other files are its own, in memory, as are its
users.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

HOME = "/root"
SYSTEM = "/run/system"  # where the folders are to which programs are linked
PROGRAMS = ("bin", "sbin")
OWN = (*PROGRAMS, "local")
_COPIED = (
    "adduser.conf", "bash.bashrc", "default/useradd", "deluser.conf", "login.defs", "nsswitch.conf", "profile", "shells",
)  # fmt: skip
_FOLDERS = (
    HOME, "/home", "/tmp", "/var/tmp", "/opt", "/srv", "/mnt", "/media", "/usr/src",  # noqa: S108 - of the box
    *(f"/usr/local/{name}" for name in ("bin", "sbin", "lib", "share", "etc")),
)  # fmt: skip
_SERVICES = ("su", "su-l", "sudo", "passwd", "chpasswd", "useradd", "other")
_PAM = "auth sufficient pam_rootok.so\nauth required pam_unix.so\naccount required pam_permit.so\nsession required pam_permit.so\npassword required pam_unix.so\n"  # fmt: skip


@cache
def closed_folders() -> Sequence[str]:
    """Return the folders of the system's programs that only some of its users may read."""
    folders = []
    for folder, names, _ in os.walk("/usr"):
        if folder == "/usr":
            names[:] = [name for name in names if name not in OWN]
        closed = [name for name in names if Path(folder, name).stat(follow_symlinks=False).st_mode & 0o5 != 0o5]
        names[:] = [name for name in names if name not in closed]
        folders += [f"{folder}/{name}" for name in closed if not Path(folder, name).is_symlink()]
    return folders


@cache
def files_of_a_fresh_system() -> Mapping[str, str]:
    """Return the files of a fresh system; of those of this machine, only what its packages brought."""
    import pwd  # which only systems have that such boxes run on

    files = {}
    for name in _COPIED:
        with suppress(OSError, ValueError):
            files[f"/etc/{name}"] = Path("/etc", name).read_text("utf-8")
    for name in (".bashrc", ".profile"):
        with suppress(OSError, ValueError):
            files[f"/etc/skel/{name}"] = files[f"{HOME}/{name}"] = Path("/etc/skel", name).read_text("utf-8")
    system = [user for user in pwd.getpwall() if 0 < user.pw_uid < 100 or user.pw_name == "nobody"]
    names = [
        ("root", 0, HOME, "/bin/bash"),
        *((user.pw_name, user.pw_uid, user.pw_dir, "/usr/sbin/nologin") for user in system),
    ]
    return {
        **files,
        **{f"{folder}/": "" for folder in _FOLDERS},
        "/etc/passwd": "".join(f"{name}:x:{id}:{id}:{name}:{home}:{shell}\n" for name, id, home, shell in names),
        "/etc/group": "".join(f"{name}:x:{id}:\n" for name, id, *_ in names) + "sudo:x:27:\nusers:x:100:\n",
        "/etc/shadow": "".join(f"{name}:*:19000:0:99999:7:::\n" for name, *_ in names),
        "/etc/gshadow": "",
        "/var/log/dpkg.log": "2024-01-01 00:00:00 startup archives unpack\n",
        "/etc/hosts": "127.0.0.1\tlocalhost\n127.0.1.1\tubuntu\n",
        "/etc/hostname": "ubuntu\n",
        "/etc/os-release": 'NAME="Ubuntu"\nID=ubuntu\nPRETTY_NAME="Ubuntu"\n',
        **{f"/etc/pam.d/{name}": _PAM for name in _SERVICES},
    }
