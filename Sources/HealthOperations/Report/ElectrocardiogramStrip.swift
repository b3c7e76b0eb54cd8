import HealthModel

/// A drawing of the first seconds of an electrocardiogram on its grid, at 25 mm/s and 10 mm/mV, to scale on paper.
enum ElectrocardiogramStrip {
  private static let seconds = 7.0
  private static let (millimetresASecond, millimetresAMillivolt) = (25.0, 10.0)
  /// The height in millimetres.
  private static let height = 30.0

  /// Returns the drawing as SVG, or `nil` if the sampling frequency or a voltage unit is missing.
  static func svg(_ value: Electrocardiogram) -> String? {
    guard let frequency = value.samplingFrequency, (1...10_000).contains(frequency), let unit = value.unit,
      let scale = UnitConversion.convert(1, from: unit, to: "mV")
    else { return nil }
    let voltages = value.voltages.prefix(Int(seconds * frequency)).map { $0 * scale }
    let known = voltages.filter { $0.isFinite && $0.magnitude < 100 }.sorted()
    guard known.count > 1 else { return nil }
    // The median voltage is drawn in the middle.
    let middle = known[known.count / 2]
    let width = Double(voltages.count) / frequency * millimetresASecond
    // Coordinates are in hundredths of a millimetre.
    var path = ""
    var isOpen = false
    for (index, voltage) in voltages.enumerated() {
      guard voltage.isFinite else {
        isOpen = false
        continue
      }
      let x = Double(index) / frequency * millimetresASecond * 100
      let y = (height / 2 - (voltage - middle) * millimetresAMillivolt) * 100
      path += "\(isOpen ? "L" : "M")\(Int(x)) \(Int(min(max(y, 0), height * 100)))"
      isOpen = true
    }
    let (columns, rows) = (Int(width.rounded(.up)), Int(height))
    let fine =
      (0...columns).map { "M\($0 * 100) 0V\(rows * 100)" } + (0...rows).map { "M0 \($0 * 100)H\(columns * 100)" }
    let coarse =
      stride(from: 0, through: columns, by: 5).map { "M\($0 * 100) 0V\(rows * 100)" }
      + stride(from: 0, through: rows, by: 5).map { "M0 \($0 * 100)H\(columns * 100)" }
    return """
      <svg class="strip" width="\(columns)mm" height="\(rows)mm" viewBox="0 0 \(columns * 100) \(rows * 100)" role="img">\
      <title>Electrocardiogram, \(Int(seconds)) s at 25 mm/s and 10 mm/mV</title>
      <path fill="none" stroke="#f3c9c4" stroke-width="8" d="\(fine.joined())"/><path fill="none" stroke="#e39b92" stroke-width="14" d="\(coarse.joined())"/>
      <path fill="none" stroke="#000" stroke-width="22" stroke-linejoin="round" d="\(path)"/></svg>
      """
  }
}
