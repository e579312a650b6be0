# Sessions in Emacs, in batch mode: eglot, and a debugging session of dap-mode that steps back. Called
# by .ci/editors in the root of the editors.
set -euo pipefail
mkdir -p .emacs.d
flashlab editor --emacs >.emacs.d/flashlab.el
flashlab exercises solution 8 --yes >08_online_softmax.toy
timeout 300 emacs --batch -l package --eval '(package-initialize)' -l .emacs.d/flashlab.el \
  -l /opt/flashlab/emacs_session.el 2>emacs.log || { tail -20 emacs.log; exit 1; }

# What a person does, in a terminal: to a breakpoint in exercise 8 and back.
source /opt/flashlab/tmux.sh
cat >.emacs.d/init.el <<'END'
(load "~/.emacs.d/flashlab.el")
(require 'dap-mode)
(dap-mode 1)
(dap-ui-mode 1)
(setq inhibit-startup-screen t)
END
rm -rf .emacs.d/.dap-breakpoints
begin emacs -nw 08_online_softmax.toy
wait_for 'for i in 1..n' 'Emacs opens exercise 8'
keys M-x eglot Enter
wait_for 'n - 1 times' 'hints stand at the end of the lines'
keys C-s 'LOAD x[i]' Enter M-x dap-breakpoint-toggle Enter
keys M-x dap-debug Enter
wait_for 'Select configuration template' 'dap-debug asks what to start'
keys flashlab Tab Enter
wait_for 'L16 ' 'the run stops before its first instruction'
keys M-x dap-continue Enter
wait_for 'L22 ' 'it goes on to the breakpoint'
keys C-c C-b
wait_for 'L20 ' 'and one step back'
keys C-c C-n
wait_for 'L22 ' 'and forward again'
keys M-x dap-eval Enter
wait_for 'Eval' 'dap-eval asks for a register'
keys R1 Enter
wait_for '=> -0.857' 'and shows its value'
picture emacs
keys C-x C-c
finish 'Emacs in a terminal'
