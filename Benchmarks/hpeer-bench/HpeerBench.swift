import ArgumentParser

/// A benchmark tool for hpeer that uses synthetic data. `scripts/bench` builds and runs it.
@main
struct HpeerBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hpeer-bench", abstract: "Measure hpeer against what SQLite itself can do, in ratios of one run.",
    subcommands: [
      WholeBench.self, PullBench.self, ImportBench.self, ExportBench.self, LookBench.self, PhonesBench.self,
      DestinationBench.self, MakeExport.self,
    ],
    defaultSubcommand: WholeBench.self)
}
