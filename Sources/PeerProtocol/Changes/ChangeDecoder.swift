/// A decoder that reads a stream incrementally, regardless of how its bytes are divided into pieces.
///
/// ```swift
/// func handle<Decoder: ChangeDecoder>(
///   _ bytes: [UInt8], with decoder: inout Decoder, _ body: (Decoder.Element) -> Void
/// ) throws {
///   bytes.withUnsafeBytes { decoder.receive($0) }
///   while let element = try decoder.next() { body(element) }
/// }
/// ```
public protocol ChangeDecoder {
  /// The type of the decoded elements: batches or lines.
  associatedtype Element

  /// Appends bytes of the stream.
  mutating func receive(_ bytes: UnsafeRawBufferPointer)

  /// Returns the next element, or `nil` if it is incomplete. The stream is unusable after an error.
  mutating func next() throws(ChangeFeedError) -> Element?
}

extension ChangeDecoder {
  /// Appends `bytes` and returns all elements that they complete, for input that is trusted or small.
  public mutating func decode(_ bytes: UnsafeRawBufferPointer) throws(ChangeFeedError) -> [Element] {
    receive(bytes)
    var elements: [Element] = []
    while let element = try next() { elements.append(element) }
    return elements
  }
}
