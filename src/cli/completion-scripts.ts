export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

// Names come from the server, where agents and users chose them: each shell's own quoting is applied, so that a host
// called `$(reboot)` is inserted as text.
const bash = `# bash completion for svc
_svc() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("$(printf '%q' "\${line%%$'\\t'*}")")
  done < <(svc completion --complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  # A colon ends a word in bash: what stands before it is on the line already.
  if declare -F __ltrim_colon_completions >/dev/null; then __ltrim_colon_completions "$cur"; fi
}
complete -o default -F _svc svc
`;

const zsh = `#compdef svc
_svc() {
  local -a lines values texts
  local line
  lines=("\${(@f)$(svc completion --complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  for line in $lines; do
    [[ -n $line ]] || continue
    values+=("\${line%%$'\\t'*}")
    texts+=("\${line/$'\\t'/  -- }")
  done
  if (( \${#values} )); then
    compadd -l -d texts -a values
  else
    _files
  fi
}
if [[ "\${funcstack[1]}" == _svc ]]; then _svc "$@"; else compdef _svc svc; fi
`;

const fish = `# fish completion for svc
function __svc_complete
  set -l words (commandline -opc) (commandline -ct)
  svc completion --complete -- $words[2..-1] 2>/dev/null
end
complete -c svc -f -a '(__svc_complete)'
`;

export const scripts: Record<Shell, string> = { bash, zsh, fish };
