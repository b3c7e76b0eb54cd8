import HealthModel

/// A reader of the CSV files in which Apple's export keeps electrocardiograms: lines of the form `label,value`,
/// followed by one voltage a line.
///
/// The labels are in the person's language, so lines are recognised by their order and the form of their values. The
/// person's name and date of birth, which come before the date of the recording, are not kept.
struct ElectrocardiogramReader {
  struct Recording {
    var electrocardiogram = Electrocardiogram()
    var recorded: Timestamp
    var hasOffset = true
    /// The device as printed, such as `Watch6,7`.
    var device = ""
    var softwareVersion: String?
    /// The lines that are not understood.
    var others: [(label: String, value: String)] = []
    /// The lines that should hold a voltage but do not.
    var unreadable = ImportReport.Finding()
    var hasComma = false
  }

  /// The maximum number of voltages, more than half an hour. Apple's recordings have 30 seconds at 512 Hz.
  static let maximumVoltages = 1_000_000
  static let maximumBytes: Int64 = 64 << 20
  private static let maximumHeader = 64

  /// Reads a recording.
  ///
  /// - Parameter headerOnly: whether to leave out the voltages.
  /// - Throws: ``ImportError`` if reading fails, and ``SideFiles/Failure`` for a file that is not an
  ///   electrocardiogram.
  static func read(_ source: any ByteSource, headerOnly: Bool = false) throws -> Recording {
    var lines = LineSource(source, limit: 64 << 10)
    var dates = DateReader()
    var recording: Recording?
    // The lines after the date of the recording, in blocks that are separated by empty lines.
    var blocks: [[(label: String, value: String)]] = [[]]
    var headerCount = 0
    while let line = try lines.next() {
      let text = String(decoding: line, as: UTF8.self)
      if text.allSatisfy({ $0.isWhitespace || $0 == "," || $0 == ";" }) {
        if recording != nil, blocks.last?.isEmpty == false { blocks.append([]) }
        continue
      }
      if var found = recording, let voltage = number(text) {
        Self.assign(blocks, to: &found)
        if headerOnly { return found }
        found.append(voltage)
        try readVoltages(&lines, into: &found)
        return found
      }
      headerCount += 1
      guard headerCount <= maximumHeader else { break }
      let fields = fields(of: text)
      let value = fields.dropFirst().joined(separator: ",")
      if recording == nil {
        if let reading = instant(value, &dates) {
          recording = Recording(recorded: reading.date, hasOffset: reading.hasOffset)
        }
      } else {
        blocks[blocks.count - 1].append((fields[0], value))
      }
    }
    throw SideFiles.Failure.unusable(
      recording == nil ? "it is no electrocardiogram" : "it is an electrocardiogram without voltages")
  }

  private static func readVoltages(_ lines: inout LineSource, into recording: inout Recording) throws {
    while let line = try lines.next() {
      var voltage = number(line)
      if voltage == nil {
        let text = String(decoding: line, as: UTF8.self)
        if text.allSatisfy(\.isWhitespace) { continue }
        voltage = number(text)
      }
      guard recording.electrocardiogram.voltages.count < maximumVoltages else {
        throw SideFiles.Failure.unusable("it has more than a million voltages")
      }
      if let voltage {
        recording.append(voltage)
      } else {
        // Leaving out a voltage would shift all that follow.
        recording.electrocardiogram.voltages.append(.nan)
        recording.unreadable.add { lines.number }
      }
    }
  }

  /// Parses a line that consists of a single number.
  private static func number(_ line: ArraySlice<UInt8>) -> DecimalReader.Reading? {
    line.withUnsafeBufferPointer { bytes in
      bytes.baseAddress.flatMap { DecimalReader.read(Bytes($0, bytes.count)) }
    }
  }

  /// Parses a line that consists of a single number, possibly with a decimal comma or in quotes, as some locales have
  /// it.
  private static func number(_ text: String) -> DecimalReader.Reading? {
    var text = Substring(text)
    while let last = text.last, last.isWhitespace || last == ";" { text.removeLast() }
    text = text.drop(while: \.isWhitespace)
    if text.hasPrefix("\""), text.hasSuffix("\""), text.count > 1 { text = text.dropFirst().dropLast() }
    return DecimalReader.read(plain(text))
  }

  /// Returns the text with Arabic and Persian digits replaced by those that dates and numbers are read in, and
  /// without marks of writing direction.
  private static func plain(_ text: some StringProtocol) -> String {
    guard text.utf8.contains(where: { $0 >= 0x80 }) else { return String(text) }
    var plain = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\u{200E}", "\u{200F}", "\u{061C}", "\u{66C}": continue
      case "\u{66B}": plain.append(".")
      case "\u{2212}": plain.append("-")
      case _ where scalar.properties.numericType == .decimal:
        plain.append(scalar.properties.numericValue.map { "\(Int($0))" } ?? "")
      default: plain.unicodeScalars.append(scalar)
      }
    }
    return plain
  }

  /// Parses a date with a time. A date of birth has no time, so it is not taken for the date of the recording.
  private static func instant(_ text: String, _ dates: inout DateReader) -> DateReader.Reading? {
    guard text.contains(":"), let reading = dates.read(plain(text)) else { return nil }
    return reading
  }

  /// Returns the fields of a line of CSV (RFC 4180), or of one separated by semicolons. Always at least one.
  static func fields(of line: String) -> [String] {
    let separator: Character = line.contains(",") || !line.contains(";") ? "," : ";"
    var fields: [String] = [""]
    var isQuoted = false
    var wasQuote = false
    for character in line {
      if character == "\"" {
        // Two quotes inside quotes stand for one.
        if !isQuoted, wasQuote { fields[fields.count - 1].append("\"") }
        isQuoted.toggle()
        wasQuote = !isQuoted
        continue
      }
      wasQuote = false
      if character == separator, !isQuoted {
        fields.append("")
      } else {
        fields[fields.count - 1].append(character)
      }
    }
    return fields
  }

  // MARK: Lines

  /// Assigns the header lines by their order: classification, symptoms, software version, device and sample rate;
  /// after an empty line, lead and unit.
  private static func assign(_ blocks: [[(label: String, value: String)]], to recording: inout Recording) {
    var blocks = blocks.filter { !$0.isEmpty }
    var (lead, unit): (String?, String?)
    // Lead and unit are the last block, or the last lines if the empty lines were lost.
    if blocks.count > 1, let last = blocks.popLast() {
      (lead, unit) = (last.first?.value, last.dropFirst().first?.value)
      recording.others += last.dropFirst(2)
    } else if blocks.first?.count ?? 0 >= 7 {
      unit = blocks[0].popLast()?.value
      lead = blocks[0].popLast()?.value
    }
    var rows = blocks.flatMap(\.self)
    if let index = rows.firstIndex(where: { heartRate($0.value) != nil }) {
      recording.electrocardiogram.averageHeartRate = heartRate(rows.remove(at: index).value)
    }
    // If no word for hertz is recognised, take a number with any word as its unit, after the line of the device.
    if let index = rows.lastIndex(where: { hertz($0.value) != nil })
      ?? rows.indices.dropFirst(leastOther).last(where: { frequency(rows[$0].value) != nil })
    {
      recording.electrocardiogram.samplingFrequency = frequency(rows.remove(at: index).value)
    }
    var values = rows[...]
    recording.electrocardiogram.classification = values.popFirst()?.value.nonEmpty
    recording.electrocardiogram.symptoms = values.popFirst()?.value.nonEmpty
    recording.softwareVersion = values.popFirst()?.value.nonEmpty
    recording.device = values.popFirst()?.value ?? ""
    recording.others += values
    recording.electrocardiogram.lead = lead?.nonEmpty
    recording.electrocardiogram.unit = unit?.nonEmpty
  }

  /// The number of lines before the sample rate: classification, symptoms, software version and device.
  private static let leastOther = 4
  /// The plausible sample rates of an electrocardiogram, in Hz.
  private static let frequencies = 10.0...100_000

  /// Returns the frequency in a text with a known word for hertz: `512 hertz` or `512,000 Hz`.
  private static func hertz(_ text: String) -> Double? {
    guard let (number, unit) = measured(text) else { return nil }
    return ["hz", "hertz", "герц", "гц", "赫", "ヘルツ", "헤르츠", "הרץ", "هرتز", "χερτζ"].contains(where: unit.hasPrefix)
      ? number : nil
  }

  /// Returns the frequency in a text with any word as its unit: `512 hercios`.
  private static func frequency(_ text: String) -> Double? {
    guard let (number, unit) = measured(text), frequencies.contains(number), !unit.contains(where: \.isNumber) else {
      return nil
    }
    return number
  }

  /// Returns the heart rate in beats per minute from a text such as `72 BPM` or `72 count/min`.
  private static func heartRate(_ text: String) -> Double? {
    guard let (number, unit) = measured(text) else { return nil }
    return unit.contains("bpm") || unit.contains("/min") || unit.contains("次/分") || unit.contains("拍/分") ? number : nil
  }

  private static func measured(_ text: String) -> (number: Double, unit: String)? {
    let text = plain(text)
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == "." || $0 == ",") }
    guard let number = DecimalReader.read(String(digits))?.value else { return nil }
    let unit = text.dropFirst(digits.count).drop(while: \.isWhitespace).lowercased()
    return unit.isEmpty ? nil : (number, unit)
  }
}

extension ElectrocardiogramReader.Recording {
  fileprivate mutating func append(_ reading: DecimalReader.Reading) {
    electrocardiogram.voltages.append(reading.value)
    if reading.hasComma { hasComma = true }
  }
}

extension String {
  fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}
