import PeerTrust

/// What a pull from one of several machines prints as JSON in the place of its report.
struct FailedPull: Encodable {
  var peer: String
  var id: String
  var error: ErrorObject

  static func print(_ server: ServerRecord, _ error: any Error) throws {
    // A comparison that differs has been printed, with where.
    if (error as? CommandFailure)?.isInReport == true { return }
    try Console.print(json: FailedPull(peer: server.name, id: server.id.hex, error: ErrorObject(error)))
  }
}
