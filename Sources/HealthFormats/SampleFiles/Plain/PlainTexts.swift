import Foundation
import HealthModel

/// Caches of types, units, sources, devices and metadata, keyed by their bytes, so that each is decoded once.
///
/// Each key includes its own terminator, a quote, a brace or a comma, so that the previous key can be compared with
/// the beginning of the next text.
struct PlainTexts: ~Copyable {
  private var types = ByteInterner<UInt32>()
  private var units = ByteInterner<UInt32>()
  private var sources = ByteInterner<UInt32>()
  private var devices = ByteInterner<UInt32>()
  private var metadata = ByteInterner<UInt32>(limit: 1 << 14)
  private(set) var quantity: UInt32 = 0
  private(set) var category: UInt32 = 0
  private let decoder = JSONDecoder()
  /// The generation and the batch of the coder to which the cached indices belong.
  private var (generation, batch) = (-1, -1)

  /// Drops indices of another generation or batch. Call this before each sample.
  mutating func begin(_ coder: inout BatchCoder) {
    if coder.generation != generation {
      types.removeAll()
      units.removeAll()
      sources.removeAll()
      devices.removeAll()
      (quantity, category) = (coder.kinds.index(of: "quantity"), coder.kinds.index(of: "category"))
      generation = coder.generation
    }
    if coder.batch != batch {
      metadata.removeAll()
      batch = coder.batch
    }
  }

  // MARK: JSON

  mutating func type(_ cursor: inout PlainCursor, _ coder: inout BatchCoder) -> UInt32? {
    Self.index(&cursor, in: &types, read: { $0.quoted() }) { bytes in
      Self.unquoted(bytes).map { coder.types.index(of: SampleType($0)) }
    }
  }

  mutating func unit(_ cursor: inout PlainCursor, _ coder: inout BatchCoder) -> UInt32? {
    Self.index(&cursor, in: &units, read: { $0.quoted() }) { bytes in
      Self.unquoted(bytes).map { coder.units.index(of: $0) }
    }
  }

  mutating func source(_ cursor: inout PlainCursor, _ coder: inout BatchCoder) -> UInt32? {
    let decoder = decoder
    return Self.index(&cursor, in: &sources, read: { $0.object() }) { bytes in
      (try? decoder.decode(Source.self, from: Data(bytes.buffer))).map { coder.sources.index(of: $0) }
    }
  }

  mutating func device(_ cursor: inout PlainCursor, _ coder: inout BatchCoder) -> UInt32? {
    let decoder = decoder
    return Self.index(&cursor, in: &devices, read: { $0.object() }) { bytes in
      (try? decoder.decode(Device.self, from: Data(bytes.buffer))).map { coder.devices.index(of: $0) }
    }
  }

  /// Returns the index of metadata, or `nil` if it is malformed or an object without members.
  mutating func metadata(_ cursor: inout PlainCursor, _ coder: inout BatchCoder) -> UInt32? {
    let decoder = decoder
    return Self.index(&cursor, in: &metadata, read: { $0.object() }) { bytes in
      String(utf8: bytes.buffer).flatMap { Self.index(ofMetadata: $0, decoder, &coder) }
    }
  }

  // MARK: Fields of a table

  mutating func typeField(_ cursor: inout PlainCursor, _ coder: inout BatchCoder) -> UInt32? {
    Self.index(&cursor, in: &types, read: { $0.field() }) { bytes in
      PlainField(bytes).map { coder.types.index(of: SampleType($0.text ?? "")) }
    }
  }

  mutating func unitField(_ cursor: inout PlainCursor, _ coder: inout BatchCoder) -> UInt32? {
    Self.index(&cursor, in: &units, read: { $0.field() }) { bytes in
      PlainField(bytes).map { coder.units.index(of: $0.text ?? "") }
    }
  }

  /// Reads the three source fields: name, bundle identifier and version.
  mutating func sourceFields(_ cursor: inout PlainCursor, _ coder: inout BatchCoder) -> UInt32? {
    let read: (inout PlainCursor) -> Bytes? = { cursor in
      let start = cursor.next
      for _ in 0..<3 { if cursor.field() == nil { return nil } }
      return Bytes(start, cursor.next - start)
    }
    return Self.index(&cursor, in: &sources, read: read) { bytes in
      var fields = PlainCursor(bytes)
      guard let name = fields.field().flatMap(PlainField.init), let bundle = fields.field().flatMap(PlainField.init),
        let version = fields.field().flatMap(PlainField.init)
      else { return nil }
      return coder.sources.index(
        of: Source(name: name.text ?? "", bundleIdentifier: bundle.text, version: version.text))
    }
  }

  mutating func deviceField(_ cursor: inout PlainCursor, _ coder: inout BatchCoder) -> UInt32? {
    let decoder = decoder
    return Self.index(&cursor, in: &devices, read: { $0.field() }) { bytes in
      guard let text = PlainField(bytes)?.text, let device = try? decoder.decode(Device.self, from: Data(text.utf8))
      else { return nil }
      return coder.devices.index(of: device)
    }
  }

  /// Returns the index of metadata, or `nil` if it is malformed or an object without members.
  mutating func metadataField(_ cursor: inout PlainCursor, _ coder: inout BatchCoder) -> UInt32? {
    let decoder = decoder
    return Self.index(&cursor, in: &metadata, read: { $0.field() }) { bytes in
      PlainField(bytes)?.text.flatMap { Self.index(ofMetadata: $0, decoder, &coder) }
    }
  }

  // MARK: Tables

  /// Returns the index of the text at the cursor.
  ///
  /// - Parameters:
  ///   - read: a closure that consumes the text.
  ///   - make: a closure that returns the index of a new text, or `nil` to leave the sample to the general parser.
  @inline(__always)
  private static func index(
    _ cursor: inout PlainCursor, in table: inout ByteInterner<UInt32>, read: (inout PlainCursor) -> Bytes?,
    make: (Bytes) -> UInt32?
  ) -> UInt32? {
    if let latest = table.latest(at: cursor.next, limit: cursor.end) {
      cursor.skip(latest.count)
      return latest.value
    }
    guard let bytes = read(&cursor) else { return nil }
    if let known = table.find(bytes) { return known }
    guard let index = make(bytes) else { return nil }
    table.insert(bytes, index)
    return index
  }

  private static func unquoted(_ bytes: Bytes) -> String? {
    String(utf8: UnsafeBufferPointer(rebasing: bytes.buffer.dropFirst().dropLast()))
  }

  private static func index(ofMetadata text: String, _ decoder: JSONDecoder, _ coder: inout BatchCoder) -> UInt32? {
    if MetadataText.isPlain(text) { return coder.append(metadata: text) }
    guard let metadata = try? decoder.decode(Metadata.self, from: Data(text.utf8)), !metadata.isEmpty else {
      return nil
    }
    return coder.append(metadata: MetadataText.encode(metadata))
  }
}

/// The text of a CSV field that ``PlainCursor/field()`` returned with its comma.
struct PlainField {
  /// The text, or `nil` if the field is empty and not in quotes.
  let text: String?

  /// Decodes a field. Returns `nil` if it is not UTF-8.
  init?(_ field: Bytes) {
    let bytes = field.buffer.dropLast()
    guard bytes.first == UInt8(ascii: "\"") else {
      guard let text = String(utf8: UnsafeBufferPointer(rebasing: bytes)) else { return nil }
      self.text = text.isEmpty ? nil : text
      return
    }
    var content: [UInt8] = []
    var isSecond = false
    for byte in bytes.dropFirst().dropLast() {
      isSecond = byte == UInt8(ascii: "\"") && !isSecond
      // Two quotes stand for a single quote.
      if !isSecond { content.append(byte) }
    }
    guard let text = content.withUnsafeBufferPointer({ String(utf8: $0) }) else { return nil }
    self.text = text
  }
}
