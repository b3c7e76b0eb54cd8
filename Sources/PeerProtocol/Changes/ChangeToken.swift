import Foundation
import HealthModel

/// A position in one store's change feed under one filter. The server that creates a change token can read it; on the
/// wire it is sealed by ``ChangeTokenSeal``.
///
/// ```swift
/// let filter = SampleFilter(types: [.workout])
/// let seal = ChangeTokenSeal(key: Data((0..<32).map { UInt8($0) }))  // HealthStore.positionKey
/// let token = ChangeToken(change: 4711, epoch: 0x9A3F, filter: ChangeToken.filterHash(filter))
/// let text = seal.text(of: token)                                    // what the client keeps and sends back
/// let position = try seal.token(in: text)
/// guard position.filter == ChangeToken.filterHash(filter) else { return }  // 410: another filter
/// ```
public struct ChangeToken: Hashable, Sendable {
  /// The number of the last change that the reader has, or 0 if it has none.
  public var change: Int64
  /// The epoch of the store's history in which ``change`` is valid.
  public var epoch: UInt64
  /// The ``filterHash(_:scope:)`` of the reader's filter and scope.
  public var filter: UInt64

  static let byteCount = 24

  /// Creates a token. Only the server that hands it out creates one, never a client.
  public init(change: Int64, epoch: UInt64, filter: UInt64) {
    self.change = change
    self.epoch = epoch
    self.filter = filter
  }

  /// The change number, epoch and filter, big-endian.
  var bytes: [UInt8] {
    [UInt64(bitPattern: change), epoch, filter].flatMap { number in
      withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
  }

  init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    let bytes = Array(bytes)
    func number(_ index: Int) -> UInt64 {
      bytes[index * 8..<index * 8 + 8].reduce(0) { $0 << 8 | UInt64($1) }
    }
    let change = Int64(bitPattern: number(0))
    guard change >= 0 else { return nil }
    self.init(change: change, epoch: number(1), filter: number(2))
  }

  /// Returns a stable hash (FNV-1a, 64 bits) of a filter: the sorted type identifiers (or a marker for all types),
  /// the time bounds in microseconds since 1970, and the sorted source names.
  ///
  /// - Parameter scope: the filter of everything that the reader may see, or `nil` if it equals `filter`. If its
  ///   types differ from the filter's, they are hashed too, because the samples' content about other types depends on
  ///   them.
  public static func filterHash(_ filter: SampleFilter, scope: SampleFilter? = nil) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    func mix(_ bytes: some Sequence<UInt8>) {
      for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
    func mix(_ types: Set<SampleType>) {
      for type in types.map(\.rawValue).sorted() {
        mix(type.utf8)
        mix([0])
      }
    }
    if let types = filter.types { mix(types) } else { mix("*".utf8) }
    mix([1])
    if let earliest = filter.earliest { mix(String(earliest.microseconds).utf8) }
    if let types = scope?.types, types != filter.types {
      mix([2])
      mix(types)
    }
    if let end = filter.end {
      mix([3])
      mix(String(end.microseconds).utf8)
    }
    if let sources = filter.sources {
      mix([4])
      for source in sources.sorted() {
        mix(source.utf8)
        mix([0])
      }
    }
    return hash
  }
}
