/// The name that `word` may have been meant to be: the closest one, if no more than a third of its
/// letters (at least one, at most three) differ. Swapped neighbours count as one difference.
func nearest(to word: String, among names: [String]) -> String? {
  // Nobody mistypes a name into a prompt, and the distance costs the product of both lengths.
  guard word.utf8.count <= 40 else { return nil }
  var best: (name: String, distance: Int)?
  for name in names {
    let distance = editDistance(Array(word), Array(name))
    let limit = min(3, max(1, name.count / 3))
    if distance <= limit, distance < best?.distance ?? Int.max { best = (name, distance) }
  }
  if let best { return best.name }
  // A beginning of one name alone is as good a guess.
  let longer = names.filter { word.count > 1 && $0.hasPrefix(word) }
  return longer.count == 1 ? longer[0] : nil
}

/// Optimal string alignment distance: insertions, deletions, substitutions and swapped neighbours.
private func editDistance(_ left: [Character], _ right: [Character]) -> Int {
  var beforeLast: [Int] = []
  var last = Array(0...right.count)
  for (row, a) in left.enumerated() {
    var current = [row + 1]
    for (column, b) in right.enumerated() {
      var cost = min(last[column + 1] + 1, current[column] + 1, last[column] + (a == b ? 0 : 1))
      if row > 0, column > 0, a == right[column - 1], left[row - 1] == b {
        cost = min(cost, beforeLast[column - 1] + 1)
      }
      current.append(cost)
    }
    beforeLast = last
    last = current
  }
  return last[right.count]
}
