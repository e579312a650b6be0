# A session in Helix, in a terminal: errors, hints, completion, formatting. Called by .ci/editors.
set -euo pipefail
source /opt/flashlab/tmux.sh
mkdir -p .config/helix
flashlab editor --helix >>.config/helix/languages.toml
printf '[editor.lsp]\ndisplay-inlay-hints = true\n' >.config/helix/config.toml
flashlab programs softmax_online >softmax.toy

begin hx softmax.toy
wait_for 'n - 1 times' 'hints show how often lines run, as formulas'
wait_for '14n - 4 cycles' 'the first line says what the program costs'
keys Escape g e o 'LAOD x[0], R0' Escape g h
wait_for 'unknown instruction' 'an error appears while typing'
picture helix
keys u
wait_until_gone 'unknown instruction' 'and goes away'
keys Escape g e o 'EX'
wait_for 'function' 'completion offers instructions'
keys Escape Escape u
keys g e o '   MOV  R0,R0' Escape ':format' Enter
wait_for 'MOV R0, R0' 'formatting'
keys Escape ':quit!' Enter
finish Helix
