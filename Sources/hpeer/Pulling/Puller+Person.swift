import PeerClient
import PeerTrust
import Terminal

extension Puller {
  /// Runs `work`. Where it ends because the server's record is, or may be, another person's, and there is a terminal,
  /// asks about that and runs it again after a yes.
  func settlingPerson<Value>(of server: ServerRecord, _ work: () async throws -> Value) async throws -> Value {
    do {
      return try await work()
    } catch let error as PeerError {
      let name = PlainText.escaped(server.name)
      let (agreement, question) =
        switch error {
        case .anotherPerson(_, let agreement):
          (agreement, "\(name) has another date of birth, sex or blood type than this machine. Is it the same person?")
        case .personUnknown(_, let agreement):
          (agreement, "Is what \(name) holds the record of the same person as what is on this machine?")
        default: throw error
        }
      // Not while a connection waits: people take their time.
      guard Console.isInteractive, try await Prompt.confirm(question) else { throw error }
      try await persons.confirm(agreement, with: server, in: store)
      return try await work()
    }
  }
}
