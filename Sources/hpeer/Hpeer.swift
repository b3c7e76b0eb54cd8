import ArgumentParser
import OperatingSystem
import QRPictures
import Terminal

/// The `hpeer` command, which moves a person's health record between machines they own.
@main
struct Hpeer: AsyncParsableCommand {
  static let version = "0.1.0"

  static let configuration = CommandConfiguration(
    commandName: "hpeer",
    abstract: "Moves your health record between machines you own, on the local network, with no cloud in between.",
    discussion: """
      First time, on the machine that has the data:
        hpeer import ~/Downloads/export.zip
        hpeer serve
      On the other machine:
        hpeer pull NAME

      Exit codes: 0 done, 1 other, 2 usage, 3 unreachable, 4 not paired or refused, 5 temporary (try again), 6 wrong \
      code, 7 pairing window closed or locked, 8 certificate changed, 9 not equal, 10 store missing, corrupt or \
      newer, 11 store locked, 12 partial (position saved), 13 another person, 14 phone locked, 65 bad input data, 130 interrupted.
      """,
    version: version,
    groupedSubcommands: [
      CommandGroup(
        name: "The record",
        subcommands: [
          Import.self, Export.self, Types.self, Show.self, Delete.self, Undelete.self, Digest.self,
        ]),
      CommandGroup(
        name: "Look at the record",
        subcommands: [
          SummaryCommand.self, Stats.self, Chart.self, SleepCommand.self, Workouts.self, WorkoutCommand.self,
          Latest.self, Sources.self,
          CoverageCommand.self, ReportCommand.self,
          ZoneCommand.self, UnitsCommand.self,
        ]),
      CommandGroup(
        name: "Peers",
        subcommands: [
          Serve.self, RunCommand.self, ServiceCommand.self, StatusCommand.self, LockCommand.self, UnlockCommand.self,
          Discover.self,
          Pair.self,
          PullCommand.self, VerifyCommand.self,
          UnpairCommand.self, InboxCommand.self,
        ]),
      CommandGroup(
        name: "Destinations", subcommands: [DestinationCommand.self, AutomationCommand.self, SyncCommand.self]),
      CommandGroup(name: "Trust", subcommands: [Peers.self, Revoke.self, Identity.self, Audit.self]),
      CommandGroup(name: "Backup", subcommands: [BackupCommand.self, RestoreCommand.self]),
      CommandGroup(name: "Help", subcommands: [ConfigCommand.self, DoctorCommand.self]),
    ])

  static func main() async {
    ProcessMemory.keepPrivate()
    quietWorkerThreads()
    // hpeer starts itself this way to read a picture. Nothing else runs in that process.
    QRPicture.readingProcess(Array(CommandLine.arguments.dropFirst()))
    StandardStream.prepareAll()
    var running: (any ParsableCommand.Type)?
    do {
      let given = Array(CommandLine.arguments.dropFirst())
      if try await FirstScreen.answers(given) { return }
      let words = try CommandWords(given, for: Self.self)
      let arranged = try CommandSettings.arranged(words)
      ErrorObject.note(words: arranged)
      var command = try await asyncParseAsRoot(arranged)
      running = type(of: command)
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch {
      ExitStatus.exit(with: error, of: running)
    }
  }
}
