export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

// The server's names are chosen by agents and users. Each shell's own quoting is applied, so that a host
// named `$(reboot)` is inserted as text.
const bash = `# bash completion for svc
_svc() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" word line i joined=0 quote="" head
  local -a words=()
  # bash ends words at = and : too: they are put together again. Quotes and backslashes are the shell's, not the name's.
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [[ $word == [=:]* || $joined == 1 ]] && ((\${#words[@]})); then
      words[\${#words[@]}-1]+="$word"
    else
      words+=("$word")
    fi
    [[ $word == [=:] ]] && joined=1 || joined=0
  done
  ((\${#words[@]})) || words=("")
  [[ $cur == [=:] ]] && cur=""
  head="\${words[\${#words[@]}-1]}"
  head="\${head%"$cur"}"
  [[ $cur == [\\"\\']* ]] && quote="\${cur:0:1}"
  for ((i = 0; i < \${#words[@]}; i++)); do
    words[i]="\${words[i]//[\\"\\'\\\\]/}"
  done
  COMPREPLY=()
  while IFS= read -r line; do
    line="\${line%%$'\\t'*}"
    line="\${line#"$head"}"
    if [[ -n $quote ]]; then
      # Within quotes bash adds nothing: a name that would end them is left out.
      [[ $line == *[\\"\\'\\\\\\$\\\`!]* ]] || COMPREPLY+=("$line")
    else
      # Commas separate names of fields, and mean nothing to the shell outside of braces.
      line="$(printf '%q' "$line")"
      COMPREPLY+=("\${line//\\\\,/,}")
    fi
  done < <(svc completion --complete -- "\${words[@]}" 2>/dev/null)
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
