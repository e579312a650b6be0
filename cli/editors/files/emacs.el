;;; flashlab.el --- Programs of the flashlab machine -*- lexical-binding: t -*-

;; `flashlab editor --emacs' wrote this file. Load it from your init file:
;;   (load "~/.emacs.d/flashlab.el")
;; Errors and costs of a program come from eglot (M-x eglot, in Emacs 29 or newer) or from lsp-mode
;; (M-x lsp), the debugger from dap-mode (M-x dap-debug). Each is used if it is there.

;;; Code:

(defvar flashlab-command @FLASHLAB@
  "The program that serves this mode.")

(defvar flashlab-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?\; "<" table)
    (modify-syntax-entry ?# "<" table)
    (modify-syntax-entry ?\n ">" table)
    (modify-syntax-entry ?' "_" table)
    table))

(defvar flashlab-font-lock-keywords
  `((,(regexp-opt '(@INSTRUCTIONS@) 'words) . font-lock-function-name-face)
    (,(concat "^\\s-*" (regexp-opt '(@DIRECTIVES@)) "\\_>") . font-lock-preprocessor-face)
    (,(regexp-opt '(@KEYWORDS@) 'symbols) . font-lock-keyword-face)
    ("\\_<[Rr][0-9]+\\_>" . font-lock-variable-name-face))
  "Colours, from the instruction table.")

(defun flashlab-indent-line ()
  "Indent the line by two spaces for each loop around it."
  (interactive)
  (let ((depth 0) (here (line-beginning-position)))
    (save-excursion
      (goto-char (point-min))
      (while (< (point) here)
        (cond ((looking-at "\\s-*for\\_>") (setq depth (1+ depth)))
              ((looking-at "\\s-*end\\_>") (setq depth (max 0 (1- depth)))))
        (forward-line 1))
      (when (looking-at "\\s-*end\\_>") (setq depth (max 0 (1- depth)))))
    (if (<= (current-column) (current-indentation))
        (indent-line-to (* 2 depth))
      (save-excursion (indent-line-to (* 2 depth))))))

(define-derived-mode flashlab-mode prog-mode "flashlab"
  "Edit programs of the flashlab machine."
  (setq-local comment-start "; " comment-end "" indent-tabs-mode nil)
  (setq-local indent-line-function #'flashlab-indent-line)
  (setq-local font-lock-defaults '(flashlab-font-lock-keywords nil t)))

(add-to-list 'auto-mode-alist '("\\.toy\\'" . flashlab-mode))

(defun flashlab--compile (&rest words)
  "Run flashlab with WORDS and the file of this buffer, in a compilation buffer."
  (save-buffer)
  (compile (mapconcat #'shell-quote-argument
                      `(,flashlab-command ,@words ,buffer-file-name) " ")))

(defun flashlab-run () "Run this program." (interactive) (flashlab--compile "run"))
(defun flashlab-check () "Check this exercise." (interactive) (flashlab--compile "exercises" "check"))

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs `(flashlab-mode . (,flashlab-command "lsp"))))

(declare-function lsp-activate-on "lsp-mode")
(declare-function lsp-register-client "lsp-mode")
(declare-function lsp-stdio-connection "lsp-mode")
(declare-function make-lsp-client "lsp-mode")
(with-eval-after-load 'lsp-mode
  (defvar lsp-language-id-configuration)
  (add-to-list 'lsp-language-id-configuration '(flashlab-mode . "flashlab"))
  (lsp-register-client
   (make-lsp-client :new-connection (lsp-stdio-connection (list flashlab-command "lsp"))
                    :activation-fn (lsp-activate-on "flashlab")
                    :server-id 'flashlab)))

;; The debugger. dap-mode has no commands that go back, so they are here.

(declare-function dap-register-debug-provider "dap-mode")
(declare-function dap-register-debug-template "dap-mode")
(declare-function dap--cur-session-or-die "dap-mode")
(declare-function dap--step "dap-mode")
(with-eval-after-load 'dap-mode
  (dap-register-debug-provider
   "flashlab"
   (lambda (configuration)
     (setq configuration (plist-put configuration :dap-server-path (list flashlab-command "dap")))
     (unless (plist-get configuration :program)
       (when (buffer-modified-p) (save-buffer)) ; the adapter reads the file
       (setq configuration (plist-put configuration :program (buffer-file-name))))
     configuration))
  (dap-register-debug-template
   "flashlab: debug this program"
   (list :type "flashlab" :request "launch" :name "flashlab")))

(defun flashlab-step-back (session)
  "Take back one instruction of SESSION."
  (interactive (list (dap--cur-session-or-die)))
  (dap--step "stepBack" session))

(defun flashlab-reverse-continue (session)
  "Go back in SESSION, to the previous breakpoint or the start."
  (interactive (list (dap--cur-session-or-die)))
  (dap--step "reverseContinue" session))

(define-key flashlab-mode-map (kbd "C-c C-r") #'flashlab-run)
(define-key flashlab-mode-map (kbd "C-c C-c") #'flashlab-check)
(define-key flashlab-mode-map (kbd "C-c C-n") 'dap-next)
(define-key flashlab-mode-map (kbd "C-c C-b") #'flashlab-step-back)
(define-key flashlab-mode-map (kbd "C-c C-v") #'flashlab-reverse-continue)

(provide 'flashlab)
;;; flashlab.el ends here
