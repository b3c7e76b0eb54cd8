import HealthModel
import HealthStore
import PeerProtocol
import PeerTrust

/// Compares one store with one peer's: the digests of both, and where asked what the samples say.
///
/// Equal digests mean equal records, as long as the peer does not lie. Neither side stands still meanwhile, so that a
/// difference may be of a moment: whoever must know pulls, and compares again.
///
/// ```swift
/// func compare(_ store: HealthStore, with server: ServerRecord, at endpoint: PeerEndpoint) async throws {
///   let verification = try await Verify(store, with: server, at: endpoint).run()
///   for difference in verification.differences {
///     print(difference.type, difference.month, difference.here.samples.count, difference.there.samples.count)
///   }
/// }
/// ```
public struct Verify: Sendable {
  /// Maximum samples of both sides whose contents are compared with one request: a moment's work.
  private static let partSize = 200_000

  private let store: HealthStore
  private let server: ServerRecord
  private let endpoint: PeerEndpoint
  private let identity: PeerIdentity?
  private let types: [SampleType]
  private let isDeep: Bool
  private let silenceLimit: Int

  /// - Parameters:
  ///   - identity: as in ``Pull``.
  ///   - types: only these; empty for all that the peer lets us see.
  ///   - isDeep: also compares what the samples say, which reads all of them.
  public init(
    _ store: HealthStore, with server: ServerRecord, at endpoint: PeerEndpoint, identity: PeerIdentity? = nil,
    types: [SampleType] = [], isDeep: Bool = false, silenceLimit: Int = PeerConnection.silenceLimit
  ) {
    self.store = store
    self.server = server
    self.endpoint = endpoint
    self.identity = identity
    self.types = types
    self.isDeep = isDeep
    self.silenceLimit = silenceLimit
  }

  /// Throws ``PeerError`` where the peer does not answer, or not with a digest.
  public func run(progress: (VerifyProgress) async -> Void = { _ in }) async throws -> Verification {
    if server.traits.isApp, let dialect = PeerDialects.dialect(named: server.dialect) {
      var settings = PullSettings(store: store, server: server)
      (settings.types, settings.silenceLimit) = (types, silenceLimit)
      if let verification = try await dialect.init(settings).compare(at: endpoint, progress: progress) {
        return verification
      }
    }
    // Before the connection: it may take a while, and the other side would wait.
    try await store.digests.keep()
    return try await PeerConnection.withConnection(
      to: endpoint, trust: .pinned(server.fingerprint, peer: server.name), identity: identity,
      silenceLimit: silenceLimit
    ) { connection in
      let (there, filter) = try await connection.digest(of: server, types: types)
      try check(filter)
      let here = try await store.digests.current(filter).record
      var verification = Verification(
        filter: filter, isDeep: isDeep, here: here, differences: DigestComparison.differences(here, there))
      if isDeep {
        verification.differences = try await deepDifferences(verification, there, connection, progress)
      }
      return verification
    }
  }

  /// A peer that shows more than was asked for, or something else, is not compared with.
  private func check(_ filter: SampleFilter) throws {
    guard !types.isEmpty else { return }
    guard let shown = filter.types, shown.isSubset(of: types) else {
      throw PeerError.unexpectedAnswer(status: 200, message: "a digest of other types than were asked for")
    }
  }

  /// The differences that there are, and those in what the samples say where they are the same.
  private func deepDifferences(
    _ verification: Verification, _ there: RecordDigest, _ connection: PeerConnection,
    _ progress: (VerifyProgress) async -> Void
  ) async throws -> [DigestDifference] {
    let here = verification.here.months
    let common = there.types.map { type in
      TypeDigest(type: type.type, months: type.months.filter { here.contains($0.month) })
    }
    let parts = RecordDigest(types: verification.here.types + common).parts(ofAtMost: Self.partSize)
    var differences: [DigestDifference] = []
    var done = VerifyProgress(samples: 0, total: verification.here.samples.count)
    for months in parts {
      let (there, filter) = try await connection.digest(of: server, types: types, months: months, isDeep: true)
      guard filter == verification.filter else {
        throw PeerError.unexpectedAnswer(status: 200, message: "what it lets this machine see has changed meanwhile")
      }
      let here = try await store.digests.deep(filter, months: months).record
      differences += DigestComparison.differences(here, there, within: months)
      done.samples = min(done.total, done.samples + here.samples.count)
      await progress(done)
    }
    // Outside the parts there are months that only the other side has.
    differences += verification.differences.filter { difference in
      !parts.contains { $0.contains(difference.month) }
    }
    return differences.inOrder
  }
}

/// What a comparison with a peer found.
public struct Verification: Hashable, Sendable {
  /// What was compared: what was asked for, as far as the peer lets this machine see it.
  public var filter: SampleFilter
  /// Whether what the samples say was compared, too.
  public var isDeep: Bool
  /// The digest of this store under ``filter``.
  public var here: RecordDigest
  /// Sorted by type and month.
  public var differences: [DigestDifference]
  /// Types that the app on a phone could not send, or not all of: in ``differences`` is what came of them.
  public var unread: [UnreadType] = []

  /// A type that an app could not send, or not all of.
  public struct UnreadType: Hashable, Sendable {
    public var type: SampleType
    /// May be the app's: hostile text.
    public var reason: String
  }

  /// Whether all was compared and no difference found; of what the samples say, only if ``isDeep``.
  public var isEqual: Bool { differences.isEmpty && unread.isEmpty }
}

/// How far a comparison is.
public struct VerifyProgress: Hashable, Sendable {
  /// Samples whose contents have been compared.
  public var samples: Int
  /// Samples whose contents are to be compared.
  public var total: Int
}
