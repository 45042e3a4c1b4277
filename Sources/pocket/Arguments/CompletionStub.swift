/// What a shell loads so that it completes `pocket`. All knowledge stays in the program: an old stub
/// works with a new one.
enum CompletionStub: String, CaseIterable, Sendable {
  case bash, zsh, fish

  /// The stub's text.
  var text: String {
    switch self {
    case .bash:
      """
      # bash completion for pocket. In ~/.bashrc:  eval "$(pocket completions bash)"
      _pocket() {
        local line
        COMPREPLY=()
        while IFS= read -r line; do
          COMPREPLY+=("$(printf %q "${line%%$'\\t'*}")")
        done < <("$1" __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
      }
      complete -o default -F _pocket pocket

      """
    case .zsh:
      """
      #compdef pocket
      # zsh completion for pocket. In ~/.zshrc, after compinit:  eval "$(pocket completions zsh)"
      _pocket() {
        local line
        local -a found
        while IFS= read -r line; do
          found+=("${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}")
        done < <("${words[1]}" __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
        if (( ${#found} )); then
          _describe pocket found
        else
          _files
        fi
      }
      compdef _pocket pocket

      """
    case .fish:
      """
      # fish completion for pocket. In ~/.config/fish/config.fish:
      #   pocket completions fish | source
      function __pocket_complete
        set -l words (commandline -opc) (commandline -ct)
        set -l found ($words[1] __complete -- $words[2..-1] 2>/dev/null)
        if test (count $found) -gt 0
          printf '%s\\n' $found
        else
          __fish_complete_path (commandline -ct)
        end
      end
      complete -c pocket -f -a '(__pocket_complete)'

      """
    }
  }
}
