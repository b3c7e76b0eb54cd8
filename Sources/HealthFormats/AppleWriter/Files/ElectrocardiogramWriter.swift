import HealthModel

/// Writes an electrocardiogram as Apple's export has it: a CSV file beside the XML, which does not name it.
package struct ElectrocardiogramWriter: Sendable {
  private let text: AppleText

  /// - Parameter offset: seconds east of UTC, in whole minutes, of the date of the recording.
  package init(offset: Int) { text = AppleText(offset: offset) }

  /// The whole file, without the person's name and date of birth, which are not kept; `nil` for a sample that is no
  /// electrocardiogram, or has no voltages.
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
    // Finer than a second is nothing in Apple's own.
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
    for (key, value) in sample.metadata.sorted(by: { $0.key < $1.key }) where key.begins(with: KeptName.attributePrefix)
    {
      row(String(Substring(key.utf8.dropFirst(KeptName.attributePrefix.utf8.count))), text.metadata(value))
    }
    bytes.append("\n")
    for voltage in content.voltages { bytes.append(contentsOf: "\(text.number(voltage))\n".utf8) }
    return bytes
  }

  /// How Apple calls the file, but for what tells those of one day apart.
  package func stem(_ sample: Sample) -> String { "ecg_\(text.date(sample.start).prefix(10))" }

  /// A positive number without an exponent, as a unit may follow it.
  private static func plain(_ number: Double) -> String? {
    let text = AppleText(offset: 0).number(number)
    return text.utf8.allSatisfy { ("0"..."9").contains(Unicode.Scalar($0)) || $0 == UInt8(ascii: ".") } ? text : nil
  }

  /// A field, in quotes where it needs them. A line is a row, so that the end of one becomes a space.
  private static func append(_ field: String, to bytes: inout [UInt8]) {
    let line = field.utf8.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 }
    if line.contains(where: { ",\";".utf8.contains($0) }) {
      SampleCSVWriter.append(quoted: line, to: &bytes)
    } else {
      bytes.append(contentsOf: line)
    }
  }
}
