import Foundation

/// A position in one store's change feed under one filter, made opaque for the wire.
///
/// Text: base64url without padding (RFC 4648 section 5) of 33 bytes: version `1`, the store's UUID, the change number and
/// the filter's hash, both big-endian. Clients keep it and hand it back; they read nothing from it.
public struct ChangeToken: Hashable, Sendable {
  public var store: UUID
  public var change: Int64
  /// ``filterHash(types:earliest:)`` of what the reader asked for and may see.
  public var filter: UInt64

  private static let version: UInt8 = 1
  private static let byteCount = 33

  public init(store: UUID, change: Int64, filter: UInt64) {
    self.store = store
    self.change = change
    self.filter = filter
  }

  /// `nil` for anything that is not exactly a token of this version.
  public init?(_ text: String) {
    guard text.utf8.count == 44, let bytes = Self.bytes(base64URL: text), bytes.count == Self.byteCount,
      bytes[0] == Self.version
    else { return nil }
    let id = bytes[1..<17].withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }
    let change = bytes[17..<25].reduce(Int64(0)) { $0 << 8 | Int64($1) }
    guard change >= 0 else { return nil }
    self.init(store: UUID(uuid: id), change: change, filter: bytes[25..<33].reduce(0) { $0 << 8 | UInt64($1) })
  }

  public var text: String {
    var bytes: [UInt8] = [Self.version]
    withUnsafeBytes(of: store.uuid) { bytes.append(contentsOf: $0) }
    withUnsafeBytes(of: change.bigEndian) { bytes.append(contentsOf: $0) }
    withUnsafeBytes(of: filter.bigEndian) { bytes.append(contentsOf: $0) }
    return Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
  }

  /// A stable hash (FNV-1a, 64 bits) of a filter: the type identifiers in order, or everything, and the earliest start.
  ///
  /// - Parameter earliest: microseconds since 1970.
  public static func filterHash(types: [String]?, earliest: Int64?) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    func mix(_ bytes: some Sequence<UInt8>) {
      for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
    if let types {
      for type in types.sorted() {
        mix(type.utf8)
        mix([0])
      }
    } else {
      mix("*".utf8)
    }
    mix([1])
    if let earliest { mix(String(earliest).utf8) }
    return hash
  }

  private static func bytes(base64URL text: String) -> [UInt8]? {
    // Foundation also takes the standard alphabet, which would give one token two spellings.
    guard !text.utf8.contains(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "=") })
    else { return nil }
    return Data(base64Encoded: text.replacing("-", with: "+").replacing("_", with: "/")).map(Array.init)
  }
}
