/// A number of bytes for people: `1.5 GiB`.
func byteCount(_ bytes: Int64) -> String {
  var (value, units) = (bytes, ["B", "KiB", "MiB", "GiB", "TiB"][...])
  var tenths = bytes * 10
  while value >= 1024, units.count > 1 {
    (value, tenths) = (value / 1024, tenths / 1024)
    units = units.dropFirst()
  }
  let unit = units.first ?? "B"
  if value >= 10 || tenths % 10 == 0 { return "\(value) \(unit)" }
  return "\(value).\(tenths % 10) \(unit)"
}
