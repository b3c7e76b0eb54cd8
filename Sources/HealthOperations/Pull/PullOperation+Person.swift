import PeerClient
import PeerTrust

extension PullOperation {
  /// Says whether a server's record and this machine's are of one person.
  public typealias PersonConfirmation = @Sendable (ServerRecord, PersonDoubt) async throws -> Bool

  /// Why somebody must say whose record a server has.
  public enum PersonDoubt: Hashable, Sendable {
    /// By what both say, it is another person's.
    case contradiction
    /// One of them does not say enough.
    case unknown
  }

  /// Runs `work`. Where it ends because the server's record is, or may be, another person's, asks about that and runs it
  /// again after a yes.
  func settlingPerson<Value>(of server: ServerRecord, _ work: () async throws -> Value) async throws -> Value {
    do {
      return try await work()
    } catch let error as PeerError {
      let (agreement, doubt): (PersonAgreement, PersonDoubt) =
        switch error {
        case .anotherPerson(_, let agreement): (agreement, .contradiction)
        case .personUnknown(_, let agreement): (agreement, .unknown)
        default: throw error
        }
      // Not while a connection waits: people take their time.
      guard let confirm, try await confirm(server, doubt) else { throw error }
      try await persons.confirm(agreement, with: server, in: local.store)
      return try await work()
    }
  }
}
