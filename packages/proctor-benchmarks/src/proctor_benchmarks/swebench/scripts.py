"""The scripts of a SWE-bench task: take the agent's patch, apply it in a fresh container, and run the tests.

Applying is that of swebench 5.0.2 (`swebench/harness/run_evaluation.py`). A guarded verifier then puts back what steers test
runners, and writes a line `withheld: FILE` of each.
"""

import shlex

from proctor_benchmarks.boxes.box_task import LOGS, PUBLISHED
from proctor_benchmarks.boxes.steering import (
    COMPILED,
    LINKED,
    OF_TESTS,
    PACKAGE,
    PYTEST_TABLE,
    RUNNER_FIELD,
    RUNNER_FILE,
    STEERING,
)

FOLDER = "/testbed"
WITHHELD = "withheld: "
_PATCH = f"{PUBLISHED}/patch.diff"
COLLECT = f'mkdir -p {PUBLISHED} && rm -f .git/index.lock && git add -A && git -c core.fileMode=false diff --cached --binary "$BASE" > {_PATCH}'  # fmt: skip
SOLVE = f"#!/bin/bash\ncd {FOLDER} && git apply /solution/patch.diff\n"
_NAMES = f"""
# the rule of boxes/steering.py
patch={_PATCH}
steering={shlex.quote(STEERING)}
runners={shlex.quote(RUNNER_FILE)}
compiled={shlex.quote(COMPILED)}
linked={shlex.quote(LINKED)}
package={shlex.quote(PACKAGE)}
of_tests={shlex.quote(OF_TESTS)}
table={shlex.quote(PYTEST_TABLE)}
field={shlex.quote(RUNNER_FIELD)}
"""
_GUARD = r"""
untracked() { git ls-files -z --others; }
remember() {
  saved=$(mktemp -d)
  cp -a .git/config .git/hooks "$saved/" 2>/dev/null
  mkdir "$saved/files"
  untracked | chosen | xargs -0 -r cp -a --parents -t "$saved/files"
  links=$(git -c core.quotePath=false ls-files -s | grep ^120000 | cut -f 2- | while IFS= read -r link; do if has_steering_name "$link" || has_steering_name "$link/"; then echo "$link"; fi; done)
}
chosen() { grep -zE "$steering|$runners|$compiled|$package|$linked"; }
was_there() { git cat-file -e "HEAD:$1" 2>/dev/null; }
has_steering_name() {
  if grep -qE "$steering" <<< "$1"; then return 0; fi
  if [[ "$1" =~ $runners ]]; then ! was_there "${BASH_REMATCH[1]}" && ! was_there "${BASH_REMATCH[1]}.py"; else return 1; fi
}
takes_a_place() {
  if [[ "$1" =~ $compiled ]]; then
    module=${BASH_REMATCH[1]}
    [ -e "$module.py" ] || was_there "$module.py" || [[ "$module" =~ $of_tests ]]
  elif [[ "$1" =~ $package ]]; then
    module=${BASH_REMATCH[1]}
    [ -e "$module.py" ] || { was_there "$module.py" && [[ "$module" =~ $of_tests ]]; }
  else
    return 1
  fi
}
steers_as() {
  if has_steering_name "$1" || takes_a_place "$1"; then return 0; fi
  if [ -L "$2" ] && has_steering_name "$1/"; then return 0; fi
  case "/$1" in
    */pyproject.toml) grep -qE "$table" -- "$2" 2>/dev/null ;;
    */package.json) tr '\n\r\t' '   ' < "$2" 2>/dev/null | grep -qE "$field" ;;
    *) return 1 ;;
  esac
}
steers() {
  if steers_as "$1" "$1"; then return 0; fi
  while IFS= read -r link; do  # of the image, and names its target so
    if [ ! -L "$link" ]; then continue; fi
    target=$(realpath -m --relative-to=. -- "$link")
    case "$1" in "$target"|"$target"/*) if steers_as "$link${1#"$target"}" "$1"; then return 0; fi ;; esac
  done <<< "$links"
  return 1
}
withhold() {
  git diff -z --no-renames --name-only HEAD | while IFS= read -r -d '' file; do
    if steers "$file"; then
      echo "withheld: $file"
      git checkout -q HEAD -- "$file" 2>/dev/null || rm -rf -- "$file"
    fi
  done
  untracked | chosen | while IFS= read -r -d '' file; do
    if ! cmp -s -- "$file" "$saved/files/$file" && steers "$file"; then
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
