import HealthModel

/// What the handlers of elements share: the element that the scanner is at, what is being made, where samples go, and
/// what is reported.
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
  /// Where the element began that is being made into something, where that is not the one that the scanner is at.
  var noticeLine: Int?
  /// Of the unknown elements that the sample keeps.
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

  /// The element without its children.
  mutating func element(_ name: ElementName) -> RawElement {
    var element = RawElement(name: names.text(of: name), line: scanner.tokenLine())
    for index in 0..<scanner.attributeCount {
      let attribute = scanner.attribute(index)
      element.attributes.append(texts.key(attribute.name).text, decoded(attribute.value))
    }
    return element
  }

  // MARK: Findings

  /// What a finding is about.
  enum Place {
    /// The element that is being made into something, else the one that the scanner is at.
    case here
    case line(Int)
    /// A whole file, or nothing that has a line.
    case nowhere
  }

  mutating func skip(_ reason: String, _ place: Place = .here) {
    let noticeLine = noticeLine
    report.skipped.add(reason) { place.line(noticeLine ?? scanner.tokenPosition.line) }
  }

  /// Bytes of an element below which nothing that is made of it can exceed a budget, unless it may be nested at will.
  private static let worthWeighing: (nested: Int64, flat: Int64) = (256, 64 << 10)

  /// Whether other machines take the sample of an element that ends here; one that they do not is counted as skipped.
  ///
  /// Throws `EncodingError` for one that cannot be written as JSON.
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

  /// Folders and endings of files that are told apart; of more, the number is given.
  private static let mostUnread = 20

  /// Names the files of the export that nothing in it has led to.
  mutating func remarkUnread() {
    let unread = sideFiles.unread.sorted { $0.key < $1.key }
    for (name, count) in unread.prefix(Self.mostUnread) {
      report.remarks.add("\(name): not read, since nothing refers to it", ImportReport.Finding(count: count))
    }
    let rest = unread.dropFirst(Self.mostUnread).reduce(0) { $0 + $1.value }
    if rest > 0 { report.remarks.add("other files: not read, since nothing refers to them", .init(count: rest)) }
  }

  // MARK: Unknown elements

  /// In bytes: of one element, and of all that one sample keeps.
  private static let maximumKept = (one: 256 << 10, all: 1 << 20)

  /// The text that an unknown element is kept as; `nil`, and counted, for one that is too large.
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
  /// - Parameter here: what is not looked for unless it is wanted.
  fileprivate func line(_ here: @autoclosure () -> Int) -> Int? {
    switch self {
    case .here: here()
    case .line(let line): line
    case .nowhere: nil
    }
  }
}
