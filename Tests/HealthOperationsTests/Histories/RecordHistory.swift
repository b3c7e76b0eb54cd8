import HealthModel
import HealthOperations
import TestSupport

/// A sequence of events on three machines of a person.
struct RecordHistory: Sendable {
  /// The kind of an import.
  enum ImportWay: Sendable {
    case usual, rescan, snapshot
  }

  indirect enum Step: Sendable, CustomStringConvertible {
    case imports(machine: Int, export: Int, way: ImportWay)
    case takes(machine: Int, body: Int)
    /// A delivery of everything new to the machine's program.
    case delivers(machine: Int)
    /// A ranking of a source first for a type, made on every machine because rankings aren't synchronized.
    case ranks(source: String, type: String)
    case pulls(into: Int, from: Int, pageSize: Int, pages: Int)
    /// A deletion of a range of hours since ``RecordWorld/start``.
    case deletes(machine: Int, type: String?, hours: Range<Int64>)
    case undoes(machine: Int)
    case undeletes(machine: Int, export: Int)
    /// An export from a machine that is imported on another.
    case copies(from: Int, into: Int, format: ExportFormat)
    case saves(machine: Int)
    /// A return to the most recently saved state, or no change if there is none.
    case restores(machine: Int)
    /// An export placed in the machine's watched folder, where it replaces a file of the same name.
    case watches(machine: Int, export: Int)
    /// A jump of the machine's clock to a number of hours after (or, if negative, before) the real time.
    case setsClock(machine: Int, hours: Int64)
    /// A step during which the disk is full after a number of further pages, repeated afterwards with enough space.
    case hasNoRoom(Step, machine: Int, pages: Int)

    var description: String {
      switch self {
      case .imports(let machine, let export, let way): "\(machine) imports export \(export) (\(way))"
      case .delivers(let machine): "\(machine) delivers"
      case .ranks(let source, let type): "\(source) is first of \(SampleType(type).shortName)"
      case .takes(let machine, let body): "\(machine) takes body \(body)"
      case .pulls(let into, let from, let size, let pages): "\(into) pulls from \(from), \(pages) pages of \(size)"
      case .deletes(let machine, let type, let hours):
        "\(machine) deletes \(type.map { SampleType($0).shortName } ?? "everything") of hours \(hours)"
      case .undoes(let machine): "\(machine) takes an import back"
      case .undeletes(let machine, let export): "\(machine) undeletes from export \(export)"
      case .copies(let from, let into, let format): "\(from) writes \(format.rawValue), \(into) imports it"
      case .saves(let machine): "\(machine) is saved"
      case .restores(let machine): "\(machine) is restored"
      case .watches(let machine, let export): "\(machine) finds export \(export) in its folder"
      case .setsClock(let machine, let hours): "\(machine) takes the time for \(hours) hours later"
      case .hasNoRoom(let step, _, let pages): "with room for \(pages) pages, then again: \(step)"
      }
    }
  }

  static let machines = 3

  var seed: UInt64
  var steps: [Step]

  init(seed: UInt64) {
    self.seed = seed
    let world = RecordWorld(seed: seed)
    var random = SeededGenerator(seed: seed &+ 1 << 40)
    steps = (0..<Int.random(in: 3...14, using: &random)).map { _ in
      let step = Self.step(world, &random)
      guard random.oneIn(6), let machine = step.writer else { return step }
      return .hasNoRoom(step, machine: machine, pages: Int.random(in: 0...12, using: &random))
    }
  }

  private static func step(_ world: RecordWorld, _ random: inout SeededGenerator) -> Step {
    let machine = Int.random(in: 0..<machines, using: &random)
    let other = (machine + Int.random(in: 1..<machines, using: &random)) % machines
    let export = Int.random(in: 0..<world.exports.count, using: &random)
    switch Int.random(in: 0..<28, using: &random) {
    case 0..<6:
      return .imports(
        machine: machine, export: export,
        way: random.pick([.usual, .usual, .usual, .rescan, .snapshot]))
    case 22, 23: return .delivers(machine: machine)
    case 24:
      return .ranks(source: random.pick(["Watch", "iPhone"]), type: "HKQuantityTypeIdentifierStepCount")
    case 25: return .watches(machine: machine, export: export)
    case 26, 27:
      // A battery that is empty, a zone that is taken for another, a year that is mistyped, and right again.
      return .setsClock(machine: machine, hours: random.pick([-490_000, -9_000, -20, -2, 0, 2, 20, 30, 9_000, 90_000]))
    case 6..<9: return .takes(machine: machine, body: Int.random(in: 0..<world.bodies.count, using: &random))
    case 9..<13:
      return .pulls(
        into: machine, from: other, pageSize: Int.random(in: 1...20, using: &random),
        pages: random.oneIn(3) ? Int.random(in: 1...3, using: &random) : .max)
    case 13..<15:
      let types = [
        "HKQuantityTypeIdentifierHeartRate", "HKQuantityTypeIdentifierStepCount", "HKWorkoutTypeIdentifier",
        "HKCorrelationTypeIdentifierBloodPressure", "HKQuantityTypeIdentifierDietaryEnergyConsumed",
      ]
      let first = Int64.random(in: -12..<84, using: &random)
      return .deletes(
        machine: machine, type: random.oneIn(4) ? nil : random.pick(types),
        hours: first..<first + random.pick([1, 6, 24, 100]))
    case 15: return .undoes(machine: machine)
    case 16: return .undeletes(machine: machine, export: export)
    case 17: return .saves(machine: machine)
    case 18: return .restores(machine: machine)
    default: return .copies(from: machine, into: other, format: random.pick([.ndjson, .json, .csv, .appleXML]))
    }
  }
}

extension RecordHistory.Step {
  /// The machine whose store the step writes, or `nil` if it isn't a single machine's store.
  fileprivate var writer: Int? {
    switch self {
    case .imports(let machine, _, _), .takes(let machine, _), .pulls(let machine, _, _, _), .deletes(let machine, _, _),
      .undeletes(let machine, _), .copies(_, let machine, _), .watches(let machine, _):
      machine
    case .delivers, .ranks, .undoes, .saves, .restores, .setsClock, .hasNoRoom: nil
    }
  }
}
