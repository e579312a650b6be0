;;; emacs_session.el --- Sessions with both servers in Emacs -*- lexical-binding: t -*-
;; emacs.sh runs it: eglot with errors and hints, then dap-mode with a breakpoint and steps back.
(require 'cl-lib)

(defvar session-failed 0)
(defun session-say (ok what)
  (princ (format "%s%s\n" (if ok "ok      " "FAILED  ") what))
  (unless ok (cl-incf session-failed)))

(defmacro session-wait-for (what condition)
  "Wait until CONDITION holds, at most 20 s, and report WHAT."
  `(let ((end (+ (float-time) 20)) ok)
     (while (not (or (setq ok ,condition) (> (float-time) end)))
       (accept-process-output nil 0.05)
       (sit-for 0.01))
     (session-say ok ,what)))

(defvar session-file (expand-file-name "08_online_softmax.toy"))
(find-file session-file)
(session-say (eq major-mode 'flashlab-mode) "a .toy file opens in flashlab-mode")
(goto-char (point-min))
(search-forward "LOAD x[i]")
(defvar session-line (line-number-at-pos))
(back-to-indentation)
(font-lock-ensure)
(session-say (eq (get-text-property (point) 'face) 'font-lock-function-name-face)
             "instructions have a colour")

;; eglot ------------------------------------------------------------------------------------------
(require 'eglot)
(setq eglot-autoshutdown t eglot-send-changes-idle-time 0)
(let ((eglot-sync-connect 20)) (apply #'eglot--connect (eglot--guess-contact)))
(session-say (eglot-current-server) "eglot connects to the server")
(let ((hints (jsonrpc-request (eglot-current-server) :textDocument/inlayHint
                              (list :textDocument (eglot--TextDocumentIdentifier)
                                    :range (list :start (list :line 0 :character 0)
                                                 :end (list :line 0 :character 0))))))
  (session-say (and (= (length hints) 1)
                    (string-search "2n loads" (plist-get (aref hints 0) :label)))
               "the first line's hint says what the program loads"))
(save-excursion
  (goto-char (point-max))
  (insert "LAOD x[0], R0\n"))
(eglot--signal-textDocument/didChange)
(session-wait-for "an error appears while typing"
                  (cl-some (lambda (one) (string-match-p "LOAD" (flymake-diagnostic-text one)))
                           (progn (flymake-start) (flymake-diagnostics))))
(set-buffer-modified-p nil)
(revert-buffer t t t)
(ignore-errors (eglot-shutdown (eglot-current-server)))

;; dap-mode ---------------------------------------------------------------------------------------
(require 'dap-mode)
(setq dap-auto-configure-features nil dap-auto-show-output nil lsp-enable-dap-auto-configure nil)
(dap-mode 1)

(defun session-frame () (dap--debug-session-active-frame (dap--cur-session)))
(defun session-step ()
  "Return the number of the step at which the run stands; nil while it runs."
  (let ((frame (and (dap--cur-session) (session-frame))))
    (and frame (string-match "step \\([0-9]+\\) of" (gethash "name" frame))
         (string-to-number (match-string 1 (gethash "name" frame))))))
(defun session-value (name)
  (gethash "result" (dap-request (dap--cur-session) "evaluate" :expression name)))

(with-current-buffer (find-file-noselect session-file)
  (goto-char (point-min))
  (forward-line (1- session-line))
  (dap-breakpoint-add)
  (dap-debug (list :type "flashlab" :request "launch" :name "flashlab" :program session-file
                   :params (list :n 5))))
(session-wait-for "dap-mode starts a run, which stops at its first step" (eql (session-step) 0))
(dap-continue (dap--cur-session) 1)
(session-wait-for "continue stops at the breakpoint"
                  (and (session-step) (> (session-step) 0)
                       (eql (gethash "line" (session-frame)) session-line)))
(defvar session-first (session-step))
(defvar session-before (session-value "R1"))
(dap-continue (dap--cur-session) 1)
(session-wait-for "and in the next iteration again" (> (or (session-step) 0) session-first))
(defvar session-second (session-step))
(flashlab-step-back (dap--cur-session))
(session-wait-for "one step back" (eql (session-step) (1- session-second)))
(dap-next (dap--cur-session))
(session-wait-for "one step forward" (eql (session-step) session-second))
(flashlab-reverse-continue (dap--cur-session))
(session-wait-for "back to the previous breakpoint" (eql (session-step) session-first))
(session-say (equal (session-value "R1") session-before) "the registers are those of before")
(flashlab-reverse-continue (dap--cur-session))
(session-wait-for "back to the start" (eql (session-step) 0))
(dap-disconnect (dap--cur-session))
(session-wait-for "the adapter ends"
                  (not (cl-some (lambda (one) (and (process-command one)
                                                   (equal (cadr (process-command one)) "dap")
                                                   (process-live-p one)))
                                (process-list))))

(princ (if (= session-failed 0) "Emacs: all passed\n" (format "Emacs: %d failed\n" session-failed)))
(kill-emacs (if (= session-failed 0) 0 1))
