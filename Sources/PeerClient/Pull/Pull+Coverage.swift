import HealthModel
import HealthStore
import PeerTrust

extension Pull {
  /// What is vouched for of an app's record as far as it has been pulled; `nil` for an hpeer, of which whatever came is
  /// complete, and before the first pull.
  ///
  /// - Parameters:
  ///   - types: those that the pull was restricted to.
  ///   - done: a pull that has just ended, which tells more than the store does where it was the first and brought nothing.
  public static func coverage(
    of server: ServerRecord, types: [SampleType] = [], after done: PullProgress? = nil, in store: HealthStore
  ) async throws -> PullCoverage? {
    guard let dialect = PeerDialects.dialect(named: server.dialect), server.traits.isApp else { return nil }
    var position = done?.unkeptPosition
    if position == nil { position = try await store.feed.position(of: consumer(of: server, types: types)) }
    guard let position else { return nil }
    return dialect.coverage(of: position)
  }

  /// Positions are kept per peer and selection: a token is valid for one filter only.
  static func consumer(of server: ServerRecord, types: [SampleType]) -> String {
    let names = types.map(\.rawValue).sorted().joined(separator: ",")
    return consumers(of: server) + (names.isEmpty ? "" : ":\(names)")
  }
}
