import HealthModel
import HealthStore
import PeerTrust

extension Pull {
  /// Returns the coverage of an app's record so far, or `nil` for an hpeer, whose pulls are always complete, and
  /// before the first pull.
  ///
  /// - Parameters:
  ///   - types: the types to which the pull was restricted.
  ///   - done: the pull that has just ended. If it was the first and brought nothing, it knows more than the store.
  public static func coverage(
    of server: ServerRecord, types: [SampleType] = [], after done: PullProgress? = nil, in store: HealthStore
  ) async throws -> PullCoverage? {
    guard let dialect = PeerDialects.dialect(named: server.dialect), server.traits.isApp else { return nil }
    var position = done?.unkeptPosition
    if position == nil { position = try await store.feed.position(of: consumer(of: server, types: types)) }
    guard let position else { return nil }
    return dialect.coverage(of: position)
  }

  /// Returns the name under which a position is stored. Each peer and selection of types has its own, because a token
  /// is valid for one filter only.
  static func consumer(of server: ServerRecord, types: [SampleType]) -> String {
    let names = types.map(\.rawValue).sorted().joined(separator: ",")
    return consumers(of: server) + (names.isEmpty ? "" : ":\(names)")
  }
}
