"""The scripts of a SWE-bench task: take the agent's patch, apply it in a fresh container, and run the tests.

Applying is that of swebench 5.0.2 (`swebench/harness/run_evaluation.py`). A guarded verifier then puts back what steers test
runners, and writes a line `withheld: FILE` of each.
"""

import shlex

from proctor_benchmarks.boxes.box_task import LOGS, PUBLISHED
from proctor_benchmarks.boxes.steering import PYTEST_TABLE, RUNNERS, STEERING

FOLDER = "/testbed"
WITHHELD = "withheld: "
_PATCH = f"{PUBLISHED}/patch.diff"
COLLECT = f'mkdir -p {PUBLISHED} && rm -f .git/index.lock && git add -A && git -c core.fileMode=false diff --cached --binary "$BASE" > {_PATCH}'  # fmt: skip
SOLVE = f"#!/bin/bash\ncd {FOLDER} && git apply /solution/patch.diff\n"
_RUNNER_FILE = rf"^((.*/)?{RUNNERS})(\.py|/.*)$"
_NAMES = f"""
patch={_PATCH}
steering={shlex.quote(STEERING)}
runners={shlex.quote(_RUNNER_FILE)}
table={shlex.quote(PYTEST_TABLE)}
"""
_GUARD = r"""
chosen() { grep -zE "$steering|$runners|(^|/)pyproject\.toml$"; }
untracked() { git ls-files -z --others | chosen; }
remember() {
  saved=$(mktemp -d)
  cp -a .git/config .git/hooks "$saved/" 2>/dev/null
  mkdir "$saved/files"
  untracked | xargs -0 -r cp -a --parents -t "$saved/files"
}
steers() {
  if grep -qE "$steering" <<< "$1"; then return 0; fi
  if [[ "$1" =~ $runners ]]; then
    top=${BASH_REMATCH[1]}
    if [ -z "$(git ls-tree HEAD -- "$top" "$top.py")" ]; then return 0; fi
  fi
  case "/$1" in */pyproject.toml) grep -qE "$table" -- "$1" 2>/dev/null ;; *) return 1 ;; esac
}
withhold() {
  git diff -z --no-renames --name-only HEAD | chosen | while IFS= read -r -d '' file; do
    if steers "$file"; then
      echo "withheld: $file"
      git checkout -q HEAD -- "$file" 2>/dev/null || rm -rf -- "$file"
    fi
  done
  untracked | while IFS= read -r -d '' file; do
    if steers "$file" && ! cmp -s -- "$file" "$saved/files/$file"; then
      echo "withheld: $file"
      rm -f -- "$file"
      if [ -e "$saved/files/$file" ]; then cp -a -- "$saved/files/$file" "$file"; fi
    fi
  done
  rm -rf .git/config .git/hooks
  cp -a "$saved/config" "$saved/hooks" .git/ 2>/dev/null
}
"""
_RUN = f"""
{{
  [ "$PROCTOR_VERIFIER" = guarded ] && remember
  applied=
  for command in "git apply --verbose" "git apply --verbose --3way" "git apply --verbose --reject" "patch --batch --forward --fuzz=5 -p1 -i"; do
    if $command $patch; then applied=1; break; fi
    if [ "${{command%% *}}" != patch ]; then git checkout -- . ; git clean -fd; fi
  done
  if [ -z "$applied" ] && git apply --check --reverse $patch; then applied=1; fi
  if [ -z "$applied" ]; then echo '>>>>> Patch Apply Failed'; exit 0; fi
  echo '>>>>> Applied Patch'
  [ "$PROCTOR_VERIFIER" = guarded ] && withhold
  /bin/bash /tests/eval.sh
}} > {LOGS}/log.txt 2>&1
"""
TEST = f"#!/bin/bash\ncd {FOLDER}\n{_NAMES}{_GUARD}{_RUN}"
