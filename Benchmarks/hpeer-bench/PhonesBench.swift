import ArgumentParser

/// The command that benchmarks pulls from simulated phone apps.
struct PhonesBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "phones", abstract: "Measure pulls from phones: requests, bytes, time and memory.",
    discussion: """
      Rows: \(PhoneRow.names). Fails where a pull takes more requests than it may.

      Examples:
        hpeer-bench phones --quick
        hpeer-bench phones --only healthsync    # sixty requests a minute: some four minutes
      """)

  @Option(help: "Only these rows, comma-separated.", transform: PhoneRow.list)
  var only: [PhoneRow] = PhoneRow.allCases
  @OptionGroup var options: BenchOptions

  func run() async throws { try await options.run(PhoneRow.allCases.filter(only.contains)) }
}

/// The benchmarks of phones.
enum PhoneRow: String, BenchRow {
  case healthsync, healthapptransfer

  var title: String {
    switch self {
    case .healthsync: "HealthSync: the first pull, a day later, and nothing new"
    case .healthapptransfer: "HealthAppTransfer: the first pull, a day later, and nothing new"
    }
  }

  func measure(_ bench: Bench) async throws -> Row {
    switch self {
    case .healthsync: try await HealthSyncPulls(bench).measure()
    case .healthapptransfer: try await HealthAppTransferPulls(bench).measure()
    }
  }
}
