import HealthModel
import HealthStore
import PeerProtocol
import PeerTrust

/// A comparison of one store with one peer's: the digests of both, and optionally the contents of the samples.
///
/// Equal digests mean equal records, as long as the peer does not lie. Either side may change during the comparison,
/// so a difference may be temporary: to be certain, pull and compare again.
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
  /// The maximum number of samples of both sides whose contents are compared with one request, which takes only a
  /// moment.
  private static let partSize = 200_000

  private let store: HealthStore
  private let server: ServerRecord
  private let endpoint: PeerEndpoint
  private let identity: PeerIdentity?
  private let types: [SampleType]
  private let isDeep: Bool
  private let silenceLimit: Int

  /// - Parameters:
  ///   - identity: the identity whose certificate is shown; see ``Pull``.
  ///   - types: the types to compare; empty for all that the peer lets this machine read.
  ///   - isDeep: whether to compare the contents of the samples, too, which reads all of them.
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

  /// Runs the comparison. Throws ``PeerError`` if the peer does not answer with a valid digest.
  public func run(progress: (VerifyProgress) async -> Void = { _ in }) async throws -> Verification {
    if server.traits.isApp, let dialect = PeerDialects.dialect(named: server.dialect) {
      var settings = PullSettings(store: store, server: server)
      (settings.types, settings.silenceLimit) = (types, silenceLimit)
      if let verification = try await dialect.init(settings).compare(at: endpoint, progress: progress) {
        return verification
      }
    }
    // Done before connecting, because it may take a while and the peer would wait.
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

  /// Checks that the peer returned only the requested types.
  private func check(_ filter: SampleFilter) throws {
    guard !types.isEmpty else { return }
    guard let shown = filter.types, shown.isSubset(of: types) else {
      throw PeerError.unexpectedAnswer(status: 200, message: "a digest of other types than were asked for")
    }
  }

  /// Returns the differences between the digests, plus those between the contents of samples that both sides have.
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
    // Months that only the other side has lie outside the parts.
    differences += verification.differences.filter { difference in
      !parts.contains { $0.contains(difference.month) }
    }
    return differences.inOrder
  }
}

/// The result of a comparison with a peer.
public struct Verification: Hashable, Sendable {
  /// The filter that was compared: the requested types, restricted to what the peer lets this machine read.
  public var filter: SampleFilter
  /// Whether the contents of the samples were compared, too.
  public var isDeep: Bool
  /// The digest of this store under ``filter``.
  public var here: RecordDigest
  /// The differences, ordered by type and month.
  public var differences: [DigestDifference]
  /// The types that the app on a phone could not send completely. ``differences`` includes what was received of them.
  public var unread: [UnreadType] = []

  /// A type that an app could not send completely.
  public struct UnreadType: Hashable, Sendable {
    public var type: SampleType
    /// The reason, which may come from the app; treat it as hostile text.
    public var reason: String
  }

  /// Whether everything was compared without a difference. Contents are included only if ``isDeep`` is true.
  public var isEqual: Bool { differences.isEmpty && unread.isEmpty }
}

/// The progress of a comparison.
public struct VerifyProgress: Hashable, Sendable {
  /// The number of samples compared so far.
  public var samples: Int
  /// The number of samples to compare.
  public var total: Int
}
