/// Decodes a stream of bytes incrementally, however they are divided.
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
  /// What the stream is a sequence of: batches or lines.
  associatedtype Element

  /// Appends bytes of the stream.
  mutating func receive(_ bytes: UnsafeRawBufferPointer)

  /// The next element, or `nil` while it is incomplete. After an error there is none.
  mutating func next() throws(ChangeFeedError) -> Element?
}

extension ChangeDecoder {
  /// The elements that `bytes` complete, all at once: for input that is trusted or small.
  public mutating func decode(_ bytes: UnsafeRawBufferPointer) throws(ChangeFeedError) -> [Element] {
    receive(bytes)
    var elements: [Element] = []
    while let element = try next() { elements.append(element) }
    return elements
  }
}
