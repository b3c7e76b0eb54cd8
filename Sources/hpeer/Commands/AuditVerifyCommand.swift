import ArgumentParser
import HealthOperations
import HealthStore
import Terminal

struct AuditVerify: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Check that no event was changed or removed.")

  @OptionGroup var common: CommonOptions

  func run() async throws {
    let store = try common.homeDirectory.openStoreForReading()
    switch try await store.audit.verify() {
    case .intact(let rows, let pruned):
      let older = pruned > 0 ? " \(HumanFormat.count(pruned, "older event")) had been pruned before." : ""
      try Console.print("The audit log is intact: \(HumanFormat.count(rows, "event")).\(older)")
    case .broken(let damage):
      throw CommandFailure(.storeUnusable, "The audit log is not what was written: \(damage.text).")
    }
  }
}

extension [AuditDamage] {
  /// The first few of them, for a sentence.
  var text: String {
    let shown = 5
    let rest = count > shown ? "; and more (\(count - shown))" : ""
    return prefix(shown).map(\.description).joined(separator: "; ") + rest
  }
}
