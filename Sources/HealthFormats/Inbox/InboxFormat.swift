import HealthModel

/// A format of bodies that an inbox accepts. To add one, create a file and list it in ``InboxFormats``.
protocol InboxFormat: Sendable {
  /// The name of the format in responses and in the audit log.
  static var format: InboxBody.Format { get }
  /// The ``SampleRoad`` of the samples.
  static var road: SampleRoad { get }
  /// Recognises a body of this format, or returns `nil`.
  init?(_ body: InboxCandidate)
  /// Reads the whole body.
  ///
  /// - Parameters:
  ///   - period: the span of time that one point covers, if the app states it.
  ///   - now: the time of arrival. Readings of a later body replace those of an earlier one.
  /// - Throws: ``SampleFileError``, ``InboxBodyError``, or what the closure throws.
  func read(
    period: AggregationPeriod?, now: Timestamp, deliver: @escaping (SampleBatch) throws -> Void
  ) throws -> ImportReport
}

/// All formats that an inbox accepts. Formats that can delete, such as a change feed, can only be imported.
enum InboxFormats {
  static let all: [any InboxFormat.Type] = [
    HealthPushWebhook.self, DailySummaries.self, HealthAppTransferBody.self, HealthAutoExportBody.self,
  ]

  /// Returns the body in the first format that recognises it, or `nil` if none does.
  static func recognise(_ content: [UInt8]) -> (any InboxFormat)? {
    let body = InboxCandidate(content)
    for format in all {
      if let found = format.init(body) { return found }
    }
    return nil
  }
}

/// A body, inspected only as far as necessary to recognise its format.
struct InboxCandidate {
  let content: [UInt8]
  let head: FileHead
  /// The names of an object's members up to `data`, including those beyond the head.
  private(set) var members: Set<String> = []
  /// The names of the members that are arrays.
  private(set) var arrays: Set<String> = []

  init(_ content: [UInt8]) {
    self.content = content
    head = FileHead(Array(content.prefix(FileHead.size)))
    guard head.object != nil else { return }
    // The reader reports what cannot be parsed.
    try? look(JSONScanner(source: MemorySource(content), path: "the body"))
  }

  private mutating func look(_ scanner: consuming JSONScanner) throws {
    try scanner.beginObject()
    while let name = try scanner.nextKey() {
      members.insert(name)
      if try scanner.peek() == UInt8(ascii: "[") { arrays.insert(name) }
      // The content of `data` or `metrics` identifies the app.
      if name == "data" || HealthPushWebhook.isOne(self) { return }
      try scanner.skipValue()
    }
  }
}
