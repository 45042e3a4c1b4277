import TestSupport

/// One job of the workload: a call of `Workload.script` on the host.
struct JobPlan: Sendable, Equatable {
  enum Kind: String, CaseIterable, Sendable {
    /// A line each tick.
    case lines
    /// Every fourth tick some 60 KB at once.
    case bursts
    /// Parts of lines, and no newline at the end.
    case parts
    /// Lines on both streams.
    case both
    /// Starts two processes in sessions of their own, and ends them in the end.
    case children
    /// Takes no notice of TERM and INT.
    case stubborn
    /// Prints nothing before its end.
    case silent
    /// There is no such program.
    case missing
  }

  let number: Int
  let kind: Kind
  /// How long it runs, in fifths of a second.
  let ticks: Int
  let code: Int
  let isNamed: Bool

  /// What tells it from all other jobs: the job's first argument, and its name if it has one.
  var tag: String { "chaos-\(number)" }

  /// The command line of the job, run from the home on the host.
  var command: [String] {
    [kind == .missing ? "./missing" : "./job", tag, kind.rawValue, "\(ticks)", "\(code)"]
  }
}

/// The jobs of a run. Half end within a tenth of the longest, one in ten lasts ten times the median,
/// so that most faults hit running jobs.
struct Workload: Sendable {
  /// How long the longest jobs run, in fifths of a second.
  let longest: Int

  func plan(_ number: Int, using random: inout SeededRandom) -> JobPlan {
    let tenth = longest / 10
    let ticks =
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<5: Int.random(in: 1...tenth, using: &random)
      case 5..<9: Int.random(in: tenth...(5 * tenth), using: &random)
      default: longest
      }
    let kinds: [JobPlan.Kind] = [
      .lines, .lines, .lines, .bursts, .bursts, .parts, .parts, .both, .both, .children, .children,
      .stubborn, .silent,
    ]
    let isMissing = Int.random(in: 0..<25, using: &random) == 0
    return JobPlan(
      number: number, kind: isMissing ? .missing : kinds.randomElement(using: &random)!,
      ticks: ticks, code: [0, 0, 0, 1, 7, 42, 126, 137, 255].randomElement(using: &random)!,
      isNamed: Int.random(in: 0..<3, using: &random) == 0)
  }

  /// `job TAG KIND TICKS CODE`. The notes of its start and of its end lie outside the job directory,
  /// where nothing of Pocket's writes.
  static let script = """
    #!/bin/sh
    tag=$1 kind=$2 ticks=$3 code=$4
    echo $$ >>starts/$tag
    children=
    case $kind in
      children) for i in 1 2; do setsid sleep 600 & children="$children $!"; done ;;
      stubborn) trap '' TERM INT ;;
    esac
    i=0
    while [ $i -lt $ticks ]; do
      case $kind in
        lines | children | stubborn) echo "$tag $i 한 줄과 조금 더" ;;
        bursts) [ $((i % 4)) != 0 ] || seq -f "$tag $i %.0f ........................" 1500 ;;
        parts) printf '%s' "$tag $i "; [ $((i % 5)) != 4 ] || echo ;;
        both) echo "$tag out $i"; echo "$tag err $i" >&2 ;;
      esac
      sleep 0.2
      i=$((i+1))
    done
    [ -z "$children" ] || { kill -KILL $children; wait; }
    printf 'the end of %s' $tag
    echo $code >>ends/$tag
    exit $code

    """
}
