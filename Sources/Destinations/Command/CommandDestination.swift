import Foundation
import HealthFormats
import HealthModel
import OperatingSystem

/// A destination that passes changes to a program's standard input, a line of JSON each. The exit status acknowledges
/// them.
///
/// ```sh
/// #!/bin/sh
/// cat >> "$HOME/changes.ndjson"
/// ```
public struct CommandDestination: Destination {
  public static let description = DestinationDescription(
    DestinationKind("command"), "Hands changes to a program, a line of JSON each.", repetition: .byKey,
    passesSamplesOn: true,
    fields: [
      SettingField(
        "command", .list, "The program and its arguments, not through a shell: [\"/usr/local/bin/keep\", \"--all\"].",
        required: true),
      SettingField("environment", .table, "More variables of its environment."),
      SettingField("batch", .integer(1...100_000), "The most changes that one run is given.", default: "1000"),
      SettingField("timeout", .integer(1...86_400), "Seconds after which it is killed.", default: "60"),
    ])

  /// The capabilities, from the settings `batch` and `timeout`.
  public let capabilities: DestinationCapabilities
  private let program: ChildProgram

  public static func validate(_ settings: DestinationSettings) throws(SettingsError) {
    let words = settings.list("command")
    guard words.first?.isEmpty == false else { throw SettingsError("command", .invalid("names no program")) }
    guard words.allSatisfy({ !$0.utf8.contains(0) }) else {
      throw SettingsError("command", .invalid("has a NUL in it"))
    }
  }

  public init(_ settings: DestinationSettings, in environment: DestinationEnvironment) throws(SettingsError) {
    try Self.validate(settings)
    let words = settings.list("command")
    let first = words.first ?? ""
    guard let path = ChildProgram.path(of: first) else {
      throw SettingsError("command", .invalid("names a program that is not there or may not be executed: \(first)"))
    }
    capabilities = DestinationCapabilities(
      maximumChanges: try settings.integer("batch"), deadline: .seconds(try settings.integer("timeout")),
      purges: true)
    var variables = settings.table("environment")
    variables["HPEER_DESTINATION"] = settings.name
    program = ChildProgram(
      path, arguments: Array(words.dropFirst()), variables: variables, folder: environment.stateFolder)
  }

  /// Runs the program without changes and with `HPEER_CHECK=1` in its environment.
  public func check() async throws {
    let end = try await run([], variables: ["HPEER_CHECK": "1", "HPEER_CHANGES": "0"])
    // Every failure counts as a wrong setup: without changes, a refusal of data makes no sense.
    if let error = Self.error(end) { throw DeliveryError.unusable(reason: error.description) }
  }

  public func deliver(_ batch: DeliveryBatch, key: DeliveryKey) async throws -> Delivery {
    var input: [UInt8] = []
    try ChangeFeedWriter().append(batch.changes, to: &input)
    let end = try await run(
      input,
      variables: [
        "HPEER_DELIVERY_KEY": key.description, "HPEER_CHANGES": String(batch.count),
        "HPEER_STARTS_OVER": batch.startsOver ? "1" : "0",
      ], record: "run")
    if let error = Self.error(end) { throw error }
    return Delivery()
  }

  private func run(
    _ input: [UInt8], variables: [String: String], record: String? = nil
  ) async throws -> ChildProgram.End {
    do {
      return try await program.run(input: input, variables: variables, record: record)
    } catch let error as ChildProgramError {
      if case .cannotRun = error { throw DeliveryError.unusable(reason: "\(error)") }
      throw DeliveryError.temporary(reason: "\(error)")
    }
  }

  /// Returns the error for an exit status, by the codes of sysexits.h and of the shell, or `nil` for success (0).
  static func error(_ end: ChildProgram.End) -> DeliveryError? {
    let said = end.said.isEmpty ? "" : ": \(end.said)"
    switch end.status {
    case .exit(0): return nil
    case .exit(65): return .refused(reason: "the program refuses it (65)\(said)")
    case .exit(let code) where [64, 77, 78, 126, 127].contains(code):
      return .unusable(reason: "the program cannot work as it is set up (\(code))\(said)")
    case .exit(let code): return .temporary(reason: "the program ended with \(code)\(said)")
    case .signal(let signal): return .temporary(reason: "the program was ended by signal \(signal)\(said)")
    }
  }
}
