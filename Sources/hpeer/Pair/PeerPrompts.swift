import HealthOperations
import PeerTrust
import Terminal

/// The messages and questions that come up while working with another machine.
enum PeerPrompts {
  /// The question whether two records are of the same person; `nil` if there is no person to answer.
  static var confirmation: PullOperation.PersonConfirmation? {
    guard Console.isInteractive else { return nil }
    return { server, doubt in
      let name = PlainText.escaped(server.name)
      let question =
        switch doubt {
        case .contradiction:
          "\(name) has another date of birth, sex or blood type than this machine. Is it the same person?"
        case .unknown: "Is what \(name) holds the record of the same person as what is on this machine?"
        }
      return try await Prompt.confirm(question)
    }
  }

  @Sendable static func tell(_ notice: PeerNotice) {
    switch notice {
    case .renamed(let server, let name):
      Console.say(
        "\(PlainText.escaped(server.name)) is called \(PlainText.escaped(name)) now.", .information,
        JournalFields(.peerRenamed, peer: name))
    case .clocksDiffer(let difference):
      let amount = HumanFormat.duration(.seconds(abs(difference.seconds).rounded()))
      Console.warn(
        "this machine's clock is \(amount) \(difference.seconds > 0 ? "ahead of" : "behind") the other's: codes and tokens may look expired."
      )
    case .codeLooksOld(let seconds):
      Console.warn(
        "by this machine's clock the code was over \(HumanFormat.duration(.seconds(seconds.rounded()))) ago: "
          + "should the phone count it down still, one of both clocks is wrong.")
    case .twins(let server, let twins):
      let places = twins.addresses.map { PlainText.escaped($0, limit: 60) }.joined(separator: " and ")
      Console.warn(
        "two machines answer as \(server.name), with one identity (last at \(places)): switch one off, or give one the record alone with `hpeer restore --new-identity`.",
        JournalFields(.peerTwins, peer: server.name))
    case .broughtUpToDate:
      Console.say(
        "What was deleted since the backup is deleted again here: paired machines are answered from now on.",
        .information, JournalFields(.serverUnlocked))
    case .wrongCode(let peer, let left):
      Console.say(
        "Wrong code. \(HumanFormat.count(left, "attempt")) left; \(PlainText.escaped(peer)) shows a new code now.")
    }
  }
}
