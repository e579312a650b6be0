# A session in Neovim whose client appends --stdio and the editor's process to every server's command, as
# many clients do. Called by .ci/editors in the root of the editors.
set -euo pipefail
mkdir -p .config/nvim/plugin
flashlab editor --neovim |
  sed 's/cmd = { flashlab, "lsp" }/cmd = { flashlab, "lsp", "--stdio", "--clientProcessId=" .. vim.fn.getpid() }/' \
    >.config/nvim/plugin/flashlab.lua
grep -q -- --stdio .config/nvim/plugin/flashlab.lua
flashlab programs softmax_online >softmax.toy
PROGRAM=softmax.toy timeout 120 nvim --headless -c 'luafile /opt/flashlab/neovim_session.lua' 2>neovim.log ||
  { cat neovim.log; exit 1; }
sleep 3
if readlink /proc/[0-9]*/exe | grep -q '/flashlab$'; then
  echo 'FAILED  a server outlives its editor'
  exit 1
fi
echo 'ok      no server outlives its editor'
