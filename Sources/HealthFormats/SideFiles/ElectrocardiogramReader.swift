import HealthModel

/// Reads an electrocardiogram as Apple's export has it: a CSV file of lines `label,value`, and then one voltage a line.
///
/// The labels are in the person's language, so lines are known by their order and by what their values look like. The
/// person's name and date of birth, which come before the date of the recording, are not kept.
struct ElectrocardiogramReader {
  struct Recording {
    var electrocardiogram = Electrocardiogram()
    var recorded: Timestamp
    var hasOffset = true
    /// As printed: `Watch6,7`.
    var device = ""
    var softwareVersion: String?
    /// Lines that are not understood, by label.
    var others: [(label: String, value: String)] = []
    /// Lines that should have been a voltage.
    var unreadable = ImportReport.Finding()
    var hasComma = false
  }

  /// Maximum voltages of a recording: more than half an hour; Apple's take 30 seconds at 512 Hz.
  static let maximumVoltages = 1_000_000
  static let maximumBytes: Int64 = 64 << 20
  private static let maximumHeader = 64

  /// - Parameter headerOnly: not to read the voltages.
  ///
  /// Throws ``ImportError`` for what cannot be read, and ``SideFiles/Failure`` for what is no electrocardiogram.
  static func read(_ source: any ByteSource, headerOnly: Bool = false) throws -> Recording {
    var lines = LineSource(source, limit: 64 << 10)
    var dates = DateReader()
    var recording: Recording?
    // The lines after the date of the recording, in blocks between empty lines.
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
        // A gap would shift all that follows.
        recording.electrocardiogram.voltages.append(.nan)
        recording.unreadable.add { lines.number }
      }
    }
  }

  /// A line that is one number and no more.
  private static func number(_ line: ArraySlice<UInt8>) -> DecimalReader.Reading? {
    line.withUnsafeBufferPointer { bytes in
      bytes.baseAddress.flatMap { DecimalReader.read(Bytes($0, bytes.count)) }
    }
  }

  /// A line that is one number, with a decimal comma or in quotes where the locale wants it.
  private static func number(_ text: String) -> DecimalReader.Reading? {
    var text = Substring(text)
    while let last = text.last, last.isWhitespace || last == ";" { text.removeLast() }
    text = text.drop(while: \.isWhitespace)
    if text.hasPrefix("\""), text.hasSuffix("\""), text.count > 1 { text = text.dropFirst().dropLast() }
    return DecimalReader.read(plain(text))
  }

  /// With the digits that dates and numbers are read in, in place of those of Arabic and Persian, and without the marks of a
  /// writing direction.
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

  /// A date with a time: a date of birth has none.
  private static func instant(_ text: String, _ dates: inout DateReader) -> DateReader.Reading? {
    guard text.contains(":"), let reading = dates.read(plain(text)) else { return nil }
    return reading
  }

  /// The fields of a line of CSV (RFC 4180), or of one that is divided by semicolons. At least one.
  static func fields(of line: String) -> [String] {
    let separator: Character = line.contains(",") || !line.contains(";") ? "," : ";"
    var fields: [String] = [""]
    var isQuoted = false
    var wasQuote = false
    for character in line {
      if character == "\"" {
        // Two in quotes are one.
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

  /// Classification, symptoms, software version, device and sample rate; after an empty line, lead and unit.
  private static func assign(_ blocks: [[(label: String, value: String)]], to recording: inout Recording) {
    var blocks = blocks.filter { !$0.isEmpty }
    var (lead, unit): (String?, String?)
    // The last block is lead and unit, also where the empty lines were lost.
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
    // After the device, where no word is known: a number with a word for hertz in whatever language.
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

  /// Lines before that of the sample rate: classification, symptoms, version of the software and device.
  private static let leastOther = 4
  /// In Hz: of whatever may be an electrocardiogram.
  private static let frequencies = 10.0...100_000

  /// Hz of `512 hertz` or `512,000 Hz`.
  private static func hertz(_ text: String) -> Double? {
    guard let (number, unit) = measured(text) else { return nil }
    return ["hz", "hertz", "герц", "гц", "赫", "ヘルツ", "헤르츠", "הרץ", "هرتز", "χερτζ"].contains(where: unit.hasPrefix)
      ? number : nil
  }

  /// Hz of `512 hercios`.
  private static func frequency(_ text: String) -> Double? {
    guard let (number, unit) = measured(text), frequencies.contains(number), !unit.contains(where: \.isNumber) else {
      return nil
    }
    return number
  }

  /// count/min of `72 BPM` or `72 count/min`.
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
