# A session in Neovim, headless. Called by .ci/editors in the root of the editors.
set -euo pipefail
mkdir -p .config/nvim/plugin
flashlab editor --neovim >.config/nvim/plugin/flashlab.lua
flashlab programs softmax_online >softmax.toy
PROGRAM=softmax.toy timeout 120 nvim --headless -c 'luafile /opt/flashlab/neovim_session.lua' 2>neovim.log ||
  { cat neovim.log; exit 1; }

# What a person sees, in a terminal.
flashlab programs softmax_online >softmax.toy
source /opt/flashlab/tmux.sh
begin nvim softmax.toy
wait_for 'n - 1 times' 'hints stand at the end of the lines'
wait_for 'Run' 'lenses stand above the program'
keys 2 0 G
picture neovim
keys G o 'LAOD x[0], R0' Escape
wait_for 'unknown instruction' 'an error stands in its line'
keys : 'quit!' Enter
finish 'Neovim in a terminal'
