import HealthModel

/// A writer of the CSV files in which Apple's export keeps electrocardiograms. The XML does not refer to them.
package struct ElectrocardiogramWriter: Sendable {
  private let text: AppleText

  /// Creates a writer.
  ///
  /// - Parameter offset: the UTC offset of the recording's date, in seconds east, in whole minutes.
  package init(offset: Int) { text = AppleText(offset: offset) }

  /// Returns the whole file, without the person's name and date of birth, which are not stored. Returns `nil` for a
  /// sample that is not an electrocardiogram or has no voltages.
  package func file(_ sample: Sample) -> [UInt8]? {
    guard case .electrocardiogram(let content) = sample.payload, !content.voltages.isEmpty else { return nil }
    var bytes: [UInt8] = []
    func row(_ label: String, _ value: String?) {
      Self.append(label, to: &bytes)
      bytes.append(",")
      Self.append(value ?? "", to: &bytes)
      bytes.append("\n")
    }
    row("Name", nil)
    row("Date of Birth", nil)
    // Apple's dates have whole seconds. Print a finer date as ISO 8601.
    let start = sample.start
    row("Recorded Date", start == Timestamp(seconds: start.seconds) ? text.date(start) : start.iso8601)
    row("Classification", content.classification)
    row("Symptoms", content.symptoms)
    row("Software Version", sample.source.version)
    row("Device", sample.device?.hardwareVersion ?? sample.device?.name ?? sample.source.name)
    if let rate = content.averageHeartRate.flatMap(Self.plain) { row("Average Heart Rate", "\(rate) BPM") }
    if let frequency = content.samplingFrequency.flatMap(Self.plain) { row("Sample Rate", "\(frequency) hertz") }
    bytes.append("\n\n")
    row("Lead", content.lead)
    row("Unit", content.unit)
    for (key, value) in sample.metadata.sorted(by: { $0.key < $1.key })
    where key.begins(with: PreservedKey.attributePrefix) {
      row(String(Substring(key.utf8.dropFirst(PreservedKey.attributePrefix.utf8.count))), text.metadata(value))
    }
    bytes.append("\n")
    for voltage in content.voltages { bytes.append(contentsOf: "\(text.number(voltage))\n".utf8) }
    return bytes
  }

  /// Returns the beginning of Apple's name for the file, without the number that separates files of one day.
  package func stem(_ sample: Sample) -> String { "ecg_\(text.date(sample.start).prefix(10))" }

  /// Returns a positive number without an exponent, because a unit may follow. Returns `nil` for other numbers.
  private static func plain(_ number: Double) -> String? {
    let text = AppleText(offset: 0).number(number)
    return text.utf8.allSatisfy { ("0"..."9").contains(Unicode.Scalar($0)) || $0 == UInt8(ascii: ".") } ? text : nil
  }

  /// Appends a field, in quotes if necessary. Line endings become spaces, because a line is a row.
  private static func append(_ field: String, to bytes: inout [UInt8]) {
    let line = field.utf8.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 }
    if line.contains(where: { ",\";".utf8.contains($0) }) {
      SampleCSVWriter.append(quoted: line, to: &bytes)
    } else {
      bytes.append(contentsOf: line)
    }
  }
}
