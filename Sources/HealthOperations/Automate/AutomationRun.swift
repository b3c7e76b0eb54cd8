import Destinations
import Foundation
import HealthAnalysis
import HealthFormats
import HealthModel
import HealthStore
import OperatingSystem
import PeerClient
import PeerTrust

/// The environment in which automations run.
public struct AutomationContext: Sendable {
  let home: Home
  let local: LocalPeer
  let pull: PullOperation
  /// The version of this program.
  let program: String

  var store: HealthStore { local.store }

  /// Creates a context.
  ///
  /// - Parameters:
  ///   - local: has the store of `home`.
  ///   - pull: the options for pulling from servers.
  ///   - program: the version of this program.
  public init(_ home: Home, _ local: LocalPeer, pull: PullOperation, program: String) {
    (self.home, self.local, self.pull, self.program) = (home, local, pull, program)
  }

  /// Returns the person's home zone, in which days and times of day are meant.
  func zone() async throws -> TimeZone {
    TimeZone(identifier: try ZoneRules(homeOf: try await store.settings.current()).name) ?? .current
  }
}

/// The reasons why an automation failed.
public enum AutomationFailure: Error, Hashable, Sendable {
  /// Another process is running the automation.
  case busy(String)
  /// The program exceeded its time limit.
  case late(Duration)
  /// A program ended with an exit status other than 0, or could not be started.
  case program(String)
  /// The settings name a machine that is not paired.
  case noPeer(String)
  /// The settings name a destination that they do not have.
  case noDestination(String)
  /// The automation pulls from all machines, but none is paired.
  case nothingPaired
  /// An imported file is truncated.
  ///
  /// - Parameter added: the number of samples that were added nevertheless.
  case cutOff(file: String, added: Int)
  /// A watched file takes more memory than an unattended import may use.
  case tooMuchMemory(file: String, limit: Int)
}

/// An error for an automation that failed for some of its destinations or machines.
public struct PartialAutomation: Error, CustomStringConvertible {
  /// A text with the outcome for each destination or machine.
  public let description: String
  /// The error of the first failure.
  public let cause: any Error
}

extension AutomationFailure: CustomStringConvertible {
  public var description: String {
    switch self {
    case .busy(let name): "Another hpeer does \(name) now: let it finish."
    case .late(let limit): "It did not end within \(TimeSpan.text(Int(limit.components.seconds)))."
    case .program(let reason): reason
    case .noPeer(let name): "No machine called \(name) is paired with this one: `hpeer peers` has those that are."
    case .noDestination(let name):
      "There is no destination called \(name): `hpeer destination list` shows those that there are."
    case .nothingPaired:
      "No machine is paired with this one yet: `hpeer pull NAME` pairs with one that runs `hpeer serve`."
    case .cutOff(let file, let added):
      "\(file) ends in the middle; \(added) added: export or copy it again and import that too."
    case .tooMuchMemory(let file, let limit):
      "\(file) takes more than \(limit >> 20) MiB of memory: check where it comes from, then import it yourself with `hpeer import`."
    }
  }
}

/// A run of an automation, recorded in the audit log.
///
/// ```swift
/// func doNow(_ automation: Automation, _ context: AutomationContext) async throws {
///   print(try await AutomationRun(automation, context).run(.asked))
/// }
/// ```
public struct AutomationRun: Sendable {
  private let automation: Automation
  private let context: AutomationContext
  private let memoryLimit: Int

  /// Creates a run, which does nothing before ``run(_:words:)``.
  ///
  /// - Parameter memoryLimit: the most bytes by which this process may grow during the import of a watched file.
  public init(_ automation: Automation, _ context: AutomationContext, memoryLimit: Int = 1 << 30) {
    (self.automation, self.context, self.memoryLimit) = (automation, context, memoryLimit)
  }

  /// Runs the automation's action, and returns a phrase for people that tells what was done.
  ///
  /// - Parameter words: makes a sentence of an error.
  /// - Throws: ``AutomationFailure``, or the errors of the action. What was done before the error stays.
  public func run(
    _ occasion: AutomationOccasion, words: @Sendable (any Error) -> String = { "\($0)" }
  ) async throws -> String {
    let (name, activity) = (automation.name, automation.activity)
    let folder = "\(context.home.directory)/automations"
    let lock = try await onThread { _ in
      try PrivateFile.makeDirectory(folder)
      return try FileLock(ifFree: "\(folder)/\(name).lock", .alone)
    }
    guard let lock else { throw AutomationFailure.busy(name) }
    defer { withExtendedLifetime(lock) {} }
    var detail = ["automation": name, "do": automation.action.kind.rawValue, "occasion": occasion.name]
    detail.merge(occasion.detail) { $1 }
    try await context.store.activities.begin(activity, event: AuditEvent(.automationStarted, detail))
    do {
      let done = try await act(occasion)
      detail["result"] = done
      let event = AuditEvent(.automationFinished, detail)
      try await uncancelled { [store = context.store] in
        try await store.activities.end(activity, failure: nil, event: event)
      }
      return done
    } catch {
      let isInterrupted = Task.isCancelled || error is CancellationError
      let reason = isInterrupted ? "it was interrupted" : words(error)
      detail["reason"] = reason.shortened(toBytes: 500)
      let event = AuditEvent(.automationFailed, detail)
      try await uncancelled { [store = context.store, keeps = isInterrupted || automation.trigger.kind.retries] in
        try await store.activities.end(activity, failure: reason, keepsDue: keeps, event: event)
      }
      throw isInterrupted ? CancellationError() : error
    }
  }

  private func act(_ occasion: AutomationOccasion) async throws -> String {
    switch automation.action {
    case .deliver(let names): return try await deliver(names)
    case .pull(let names): return try await pull(names)
    case .import(let path):
      if let path { return try await importFile(path, named: path) }
      guard let name = occasion.path else { return "no file" }
      return try await importHeld(name)
    case .backup(let kept):
      return try await kept.add(of: context.home, program: context.program, at: .now)
    case .command(let program): return try await run(program, occasion)
    }
  }

  // MARK: Actions

  private func deliver(_ names: [String]) async throws -> String {
    let settings = try await onThread { [home = context.home] _ in try home.readableSettings() }
    return try await each(names, named: \.self) { name in
      guard let section = settings.destination(name) else {
        throw settings.mistake(inDestination: name).map { $0 as any Error } ?? AutomationFailure.noDestination(name)
      }
      // A destination that its owner has stopped is not a failure.
      guard section.common.isEnabled else { return "left out, it is disabled" }
      let state = try await context.store.deliveries.state(of: section.consumer)
      guard state.paused == nil else { return "left out, it is paused" }
      let report = try await DeliverOperation(section, home: context.home, store: context.store).run()
      return report.delivered == 0 ? "nothing new" : "\(report.delivered) delivered"
    }
  }

  private func pull(_ names: [String]) async throws -> String {
    let paired = try await context.local.registry.servers()
    var servers = paired
    if !names.isEmpty {
      servers = try names.map { name in
        guard let server = paired.first(where: { $0.isCalled(name) }) else { throw AutomationFailure.noPeer(name) }
        return server
      }
    }
    guard !servers.isEmpty else { throw AutomationFailure.nothingPaired }
    return try await each(servers, named: \.name) { server in
      let result = try await context.pull.run(from: server, at: PeerFinder.hint(of: server))
      return result.done.added == 0 ? "nothing new" : "\(result.done.added) added"
    }
  }

  /// Runs `work` for each value, one after the other. A failure does not stop the others.
  private func each<Value>(
    _ values: [Value], named name: KeyPath<Value, String>, _ work: (Value) async throws -> String
  ) async throws -> String {
    var phrases: [String] = []
    var failures: [any Error] = []
    for value in values {
      do {
        phrases.append("\(value[keyPath: name]): \(try await work(value))")
      } catch {
        if Task.isCancelled { throw CancellationError() }
        failures.append(error)
        phrases.append("\(value[keyPath: name]): \(error)")
      }
    }
    if let first = failures.first {
      throw values.count == 1 ? first : PartialAutomation(description: phrases.joined(separator: "; "), cause: first)
    }
    return phrases.joined(separator: "; ")
  }

  /// Imports a file that stays open meanwhile: others may write to the folder, and the file that was found must be
  /// imported.
  private func importHeld(_ name: String) async throws -> String {
    let file: PinnedFile
    do {
      file = try await onThread { _ in try PinnedFile(name) }
    } catch let error as SystemError {
      throw error.code == ENOENT
        ? ImportError.noSuchFile(path: name) : ImportError.notAnExport(path: name, looksLike: "something closed to it")
    }
    defer { withExtendedLifetime(file) {} }
    do {
      let limit = memoryLimit
      let excess = AutomationFailure.tooMuchMemory(file: (name as NSString).lastPathComponent, limit: limit)
      return try await within(growth: limit, orThrow: excess) { try await importFile(file.path, named: name) }
    } catch let error as ImportError {
      throw error.replacing(file.path, with: name)
    } catch let error as SampleFileError {
      throw error.replacing(file.path, with: name)
    }
  }

  private func importFile(_ path: String, named name: String) async throws -> String {
    let source = try await ImportFile.recognised(at: path, original: name)
    let name = (name as NSString).lastPathComponent
    let result = try await ImportOperation(source, named: name).run(into: context.store)
    let count = result.summary.added
    guard result.earlier != nil || result.report.isComplete else {
      throw AutomationFailure.cutOff(file: name, added: count)
    }
    return "\(name): \(count == 0 ? "nothing new" : "\(count) added")"
  }

  private func run(_ program: AutomationAction.Program, _ occasion: AutomationOccasion) async throws -> String {
    let (name, folder) = (automation.name, "\(context.home.directory)/automations")
    guard let path = ChildProgram.path(of: program.words[0]) else {
      throw AutomationFailure.program("\(program.words[0]) is not there, or may not be executed.")
    }
    var variables = program.environment
    variables["HPEER_AUTOMATION"] = name
    // A program that calls hpeer must use the same record.
    if context.home.configuration == context.home.directory, variables["HPEER_HOME"] == nil {
      variables["HPEER_HOME"] = context.home.directory
    }
    let child = ChildProgram(path, arguments: Array(program.words.dropFirst()), variables: variables, folder: folder)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let input = Array(try encoder.encode(Self.object(name, occasion))) + [UInt8(ascii: "\n")]
    let end = try await within(program.timeout, orThrow: AutomationFailure.late(program.timeout)) {
      try await child.run(input: input, variables: occasion.variables, record: "\(name).run")
    }
    guard end.status == .exit(0) else {
      let how =
        switch end.status {
        case .exit(let code): "ended with \(code)"
        case .signal(let signal): "was ended by signal \(signal)"
        }
      throw AutomationFailure.program("\(program.words[0]) \(how)\(end.said.isEmpty ? "." : ": \(end.said)")")
    }
    return "\((path as NSString).lastPathComponent) ended well"
  }

  private struct Event: Encodable {
    var automation: String
    var occasion: String
    var peer: String?
    var type: String?
    var value: Double?
    var unit: String?
    var file: String?
    var planned: Timestamp?
  }

  /// Returns the JSON object that a program reads.
  private static func object(_ name: String, _ occasion: AutomationOccasion) -> Event {
    var event = Event(automation: name, occasion: occasion.name)
    switch occasion {
    case .change, .asked: break
    case .time(let time): event.planned = time
    case .peer(let peer): event.peer = peer
    case .value(let number, let type, let unit): (event.value, event.type, event.unit) = (number, type.rawValue, unit)
    case .file(let path): event.file = path
    }
    return event
  }
}

extension AutomationOccasion {
  fileprivate var path: String? {
    if case .file(let path) = self { path } else { nil }
  }
}

extension ServerRecord {
  /// Returns whether a text that a person typed means the server: its name, or the beginning of its ID.
  func isCalled(_ text: String) -> Bool {
    let wanted = text.lowercased()
    return name.lowercased() == wanted || wanted.utf8.count >= 4 && id.hex.hasPrefix(wanted)
  }
}
