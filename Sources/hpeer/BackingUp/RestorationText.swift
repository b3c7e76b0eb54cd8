import Foundation
import HealthOperations
import PeerTrust
import Terminal

/// What is said of a machine that was put back and waits.
enum RestorationText {
  static func sayWaiting(_ restoration: Restoration) {
    Console.warn(
      "this machine was restored from a backup of \(restoration.made.formatted(.iso8601)), and what was deleted since would "
        + "be there again: paired machines get no answer yet.",
      EntryFields(.serverLocked))
    for server in restoration.servers {
      let name = PlainText.escaped(server.name, limit: 100)
      Console.say("  \(name) may know: `hpeer pull \(server.id.short)` asks it, and so does `hpeer run`.")
    }
    for client in restoration.clients {
      let name = PlainText.escaped(client.name, limit: 100)
      Console.say("  \(name) may know: run `hpeer serve` there, and `hpeer pair` and `hpeer pull` here.")
    }
    Console.say("Where nothing was deleted, or none of them is there any more: `hpeer unlock`, or `hpeer serve --now`.")
  }
}
