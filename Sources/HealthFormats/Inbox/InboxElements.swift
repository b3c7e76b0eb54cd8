import HealthModel

/// Reads the elements of an array in a body's object, one at a time.
enum InboxElements {
  /// A closure that makes samples of an element.
  ///
  /// - Parameters:
  ///   - weight: the size of the element in bytes.
  ///   - line: a closure that returns the line of the body on which the element begins.
  typealias Add = (
    _ element: JSONValue, _ weight: Int, _ collector: inout SampleCollector, _ line: () -> Int
  ) throws -> Void

  /// Reads a whole body. Members other than `wanted` are skipped.
  ///
  /// - Parameter deliver: a closure that receives the samples collected by `add`, in batches.
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
