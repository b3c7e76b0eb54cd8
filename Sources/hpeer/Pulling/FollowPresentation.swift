import Foundation
import PeerClient
import PeerTrust
import Terminal

/// What following says when something has come: one line, or one JSON object on a line of its own.
struct FollowPresentation {
  let server: ServerRecord
  let new: PullProgress

  private struct Report: Encodable {
    var peer: String
    var id: String
    var added: Int
    var deleted: Int
    var unchanged: Int
    var bytes: Int
    var time = Date()
  }

  func print(json: Bool) throws {
    if json {
      return try Console.print(
        json: Report(
          peer: server.name, id: server.id.hex, added: new.added, deleted: new.deleted, unchanged: new.unchanged,
          bytes: new.bytes))
    }
    try Console.print(
      "\(PlainText.escaped(server.name)): \(HumanFormat.count(new.added)) added, \(HumanFormat.count(new.deleted)) deleted, "
        + "\(HumanFormat.count(new.unchanged)) unchanged, \(HumanFormat.bytes(new.bytes))")
  }
}
