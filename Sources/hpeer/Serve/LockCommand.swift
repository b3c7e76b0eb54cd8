import ArgumentParser
import HealthModel
import HealthOperations
import Terminal

struct LockCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lock",
    abstract: "Stop answering paired machines, at once, until `hpeer unlock`.",
    discussion: """
      Answers that are under way end within a second. Machines stay paired, and others may pair; all that they are told \
      is that this machine is locked. Commands on this machine go on. It stays locked when the server or the machine \
      starts again.

      Examples:
        hpeer lock
      """)

  @OptionGroup var common: CommonOptions

  func run() async throws {
    let home = common.homeDirectory
    let isNew = try await home.withReserve {
      try await ServingLock(home.openRegistry(), auditedIn: home.createStore()).lock()
    }
    if isNew {
      Console.say("Locked: paired machines get no answer until `hpeer unlock`.")
    } else {
      Console.say("It is locked already: paired machines get no answer until `hpeer unlock`.")
    }
  }
}

struct UnlockCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unlock",
    abstract: "Answer paired machines again.",
    discussion: """
      Examples:
        hpeer unlock
      """)

  @OptionGroup var common: CommonOptions

  func run() async throws {
    let home = common.homeDirectory
    let wasLocked = try await home.withReserve {
      try await ServingLock(home.openRegistry(), auditedIn: home.createStore()).unlock()
    }
    if wasLocked {
      Console.say("Unlocked: paired machines are answered again.")
    } else {
      Console.say("It is not locked.")
    }
  }
}
