import HealthModel
import HealthStore
import PeerTrust

extension Pull {
  /// What is vouched for of an app's record as far as it has been pulled; `nil` for an hpeer, of which whatever came is
  /// complete, and before the first pull.
  ///
  /// - Parameter types: those that the pull was restricted to.
  public static func coverage(
    of server: ServerRecord, types: [SampleType] = [], in store: HealthStore
  ) async throws -> PullCoverage? {
    guard let dialect = PeerDialects.dialect(named: server.dialect), server.traits.isApp,
      let position = try await store.feed.position(of: consumer(of: server, types: types))
    else { return nil }
    return dialect.coverage(of: position)
  }

  /// Positions are kept per peer and selection: a token is valid for one filter only.
  static func consumer(of server: ServerRecord, types: [SampleType]) -> String {
    let names = types.map(\.rawValue).sorted().joined(separator: ",")
    return consumers(of: server) + (names.isEmpty ? "" : ":\(names)")
  }
}
