import HealthModel

/// The elements of an array that a body's object has under one key, read one at a time.
enum InboxElements {
  /// What makes samples of an element.
  ///
  /// - Parameters:
  ///   - weight: its bytes.
  ///   - line: of the body, on which it begins.
  typealias Add = (
    _ element: JSONValue, _ weight: Int, _ collector: inout SampleCollector, _ line: () -> Int
  ) throws -> Void

  /// Reads a body whole; other keys are passed over.
  ///
  /// - Parameter deliver: given the samples that `add` has collected, many at a time.
  static func read(
    _ content: [UInt8], under wanted: String, deliver: @escaping (SampleBatch) throws -> Void, add: Add
  ) throws -> ImportReport {
    var collector = SampleCollector(size: 10_000, deliver: deliver)
    var scanner = JSONScanner(source: MemorySource(content), path: "the body")
    try scanner.beginObject()
    while let key = try scanner.nextKey() {
      guard key == wanted else {
        try scanner.skipValue()
        continue
      }
      try scanner.beginArray()
      while try scanner.nextElement() {
        let (bytes, offset) = try scanner.value(limit: SampleFile.maximumSample)
        let element = try scanner.parse(bytes, at: offset)
        try add(element, bytes.count, &collector) { scanner.position(at: offset).line }
      }
    }
    try scanner.end()
    collector.report.isComplete = true
    return try collector.finish()
  }
}
