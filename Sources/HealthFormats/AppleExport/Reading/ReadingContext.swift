import HealthModel

/// The state that all element handlers share: the scanner at the current element, the open samples, the delivery of
/// finished samples, and the report.
struct ReadingContext: ~Copyable {
  var scanner: XMLScanner
  var names = ElementNames()
  var keys = KeyReader()
  var texts = TextTables()
  var open = OpenDrafts()
  var delivery: SampleDelivery
  var report = ImportReport()
  let sideFiles: SideFiles
  /// The date of the export as the first pass has found it: it may stand behind what needs it.
  let surveyedDate: Timestamp?
  /// The line of the element being processed; `nil` if that is the scanner's current element.
  var noticeLine: Int?
  /// The size of the unknown elements that the current sample keeps, in bytes.
  var keptBytes = 0

  init(
    scanner: consuming XMLScanner, delivery: consuming SampleDelivery, sideFiles: SideFiles,
    surveyedDate: Timestamp? = nil
  ) {
    self.scanner = scanner
    self.delivery = delivery
    self.sideFiles = sideFiles
    self.surveyedDate = surveyedDate
  }

  // MARK: The element that the scanner is at

  mutating func decoded(_ bytes: Bytes) -> String {
    var defects: TextDefects = []
    let text = XMLText.decode(bytes, defects: &defects)
    remark(defects)
    return text
  }

  mutating func decodedAttribute(_ index: Int) -> (name: String, value: String) {
    let attribute = scanner.attribute(index)
    return (decoded(attribute.name), decoded(attribute.value))
  }

  /// Returns the current element without its children.
  mutating func element(_ name: ElementName) -> RawElement {
    var element = RawElement(name: names.text(of: name), line: scanner.tokenLine())
    for index in 0..<scanner.attributeCount {
      let attribute = scanner.attribute(index)
      element.attributes.append(texts.key(attribute.name).text, decoded(attribute.value))
    }
    return element
  }

  // MARK: Findings

  /// The place that a finding refers to.
  enum Place {
    /// The element being processed, or else the scanner's current element.
    case here
    case line(Int)
    /// A whole file, or something else without a line.
    case nowhere
  }

  mutating func skip(_ reason: String, _ place: Place = .here) {
    let noticeLine = noticeLine
    report.skipped.add(reason) { place.line(noticeLine ?? scanner.tokenPosition.line) }
  }

  /// The sizes of an element in bytes up to which its sample is within budget for certain, if it may hold nested JSON
  /// and if not.
  private static let worthWeighing: (nested: Int64, flat: Int64) = (256, 64 << 10)

  /// Returns whether the sample of the element that ends here is small enough for other machines to accept. Counts a
  /// sample that is too large as skipped.
  ///
  /// - Throws: `EncodingError` for a sample that cannot be written as JSON.
  mutating func takes(_ draft: Draft) throws -> Bool {
    if draft.metadata.isTooLarge {
      skipTooLarge(draft.sample.type, line: draft.line)
      return false
    }
    let weight = scanner.offset - draft.offset
    if weight < (draft.sample.payload.holdsAnyJSON ? Self.worthWeighing.nested : Self.worthWeighing.flat) {
      return true
    }
    if try draft.sample.isWithinBudget(weight: Int(weight)) { return true }
    skipTooLarge(draft.sample.type, line: draft.line)
    return false
  }

  mutating func skipTooLarge(_ type: SampleType, line: Int? = nil) {
    skip("\(type.rawValue): \(Sample.tooLarge)", line.map(Place.line) ?? .here)
  }

  mutating func remark(_ kind: String, _ place: Place = .here) {
    let noticeLine = noticeLine
    report.remarks.add(kind) { place.line(noticeLine ?? scanner.tokenPosition.line) }
  }

  mutating func remark(_ defects: TextDefects) {
    if defects.isEmpty { return }
    if defects.contains(.invalidUTF8) { remark("invalid UTF-8") }
    if defects.contains(.controlCharacter) { remark("control character") }
    if defects.contains(.unknownEntity) { remark("unknown entity") }
  }

  mutating func remark(_ problems: [String: ImportReport.Finding], in member: ExportMember) {
    for (problem, finding) in problems.sorted(by: { $0.key < $1.key }) {
      report.remarks.add("\(member.name): \(problem)", finding)
    }
  }

  /// The maximum number of file groups (a folder and an extension) that are listed. The rest are only counted.
  private static let mostUnread = 20

  /// Adds a remark for each group of files in the export that nothing refers to.
  mutating func remarkUnread() {
    let unread = sideFiles.unread.sorted { $0.key < $1.key }
    for (name, count) in unread.prefix(Self.mostUnread) {
      report.remarks.add("\(name): not read, since nothing refers to it", ImportReport.Finding(count: count))
    }
    let rest = unread.dropFirst(Self.mostUnread).reduce(0) { $0 + $1.value }
    if rest > 0 { report.remarks.add("other files: not read, since nothing refers to them", .init(count: rest)) }
  }

  // MARK: Unknown elements

  /// The maximum size of one kept element, and of all that one sample keeps, in bytes.
  private static let maximumKept = (one: 256 << 10, all: 1 << 20)

  /// Returns the JSON text under which an unknown element is kept, or `nil` if it is too large, which is counted as
  /// skipped.
  mutating func kept(_ element: JSONValue, called name: String, line: Int) -> String? {
    guard let text = try? CanonicalJSON.encode(element), text.utf8.count <= Self.maximumKept.one,
      keptBytes + text.utf8.count <= Self.maximumKept.all
    else {
      skip("\(name) is unknown and too large to be kept", .line(line))
      return nil
    }
    keptBytes += text.utf8.count
    remark("\(name) is unknown", .line(line))
    return text
  }
}

extension ReadingContext.Place {
  /// Returns the line of the place, if it has one.
  ///
  /// - Parameter here: the current line; evaluated only if needed.
  fileprivate func line(_ here: @autoclosure () -> Int) -> Int? {
    switch self {
    case .here: here()
    case .line(let line): line
    case .nowhere: nil
    }
  }
}
