import HealthModel
import HealthStore
import PeerProtocol

/// What the dialect of an app knows: what is to be read of a phone in which order, and how one type is read.
protocol PhoneReader {
  associatedtype Position: PhonePosition
  associatedtype Walk: PhoneWalk where Walk.State == Position.TypeState

  /// How what comes from it came.
  static var road: SampleRoad { get }

  var limits: ClientLimits { get }
  var clock: any Clock<Duration> { get }
  var now: Timestamp { get }
  /// Bytes of the bodies that have come.
  var bytesReceived: Int { get }
  var requests: Int { get }

  /// How long to wait before a phone that is followed is looked at again; none of them can hold a request.
  ///
  /// - Parameter wait: seconds that the server may hold a request.
  func pause(_ wait: Int) -> Int

  /// What is to be read in one run, in this order, and which types the phone has; both are noted in the position as far
  /// as the dialect keeps them there.
  func plan(_ position: inout Position, _ request: PhoneRequest) async throws -> PhonePlan<Walk>

  /// - Parameter sender: who has sent what is looked for; `nil` where nothing is.
  func walk(
    _ step: PhonePlan<Walk>.Step, from state: Position.TypeState, into store: HealthStore, sender: String?
  ) -> Walk
}

/// What is asked of a phone in one run.
struct PhoneRequest {
  /// Only these; empty for all.
  var types: Set<SampleType>
  /// Whether only what is new is asked for.
  var isHurried: Bool
  /// Whether what is not listed any more is looked for.
  var infersDeletions: Bool
}

/// What is to be read in one run.
struct PhonePlan<Walk: PhoneWalk> {
  struct Step {
    var type: Walk.AppType
    var task: Walk.Task
  }

  var steps: [Step] = []
  /// The app's names of the types that the phone has.
  var listed: Set<String> = []

  mutating func add(_ task: Walk.Task, of types: [Walk.AppType]) { steps += types.map { Step(type: $0, task: task) } }
}

/// Reads one type of a phone's record, one step after the other.
protocol PhoneWalk {
  associatedtype AppType: PhoneType
  associatedtype Task: PhoneTask
  associatedtype State: PhoneTypeState

  var type: AppType { get }
  /// After the steps that were taken.
  var state: State { get }
  /// Samples that the phone has, as far as that is known.
  var total: Int? { get }
  /// What the phone has ceased to list, where everything was read without a break; `nil` where it was not.
  var missing: [Sample]? { get }
  /// Whether the phone gave nothing of what it had given before: it is locked, or its owner has taken that back.
  var isWithdrawn: Bool { get }

  /// The next step; the last one where there is nothing more to do.
  mutating func next() async throws -> PhoneStep
}

/// A type as an app calls it.
protocol PhoneType {
  var name: String { get }
  var type: SampleType { get }
}

extension PeerError {
  /// Why a phone's app could not send one type, where others may come all the same; `nil` for what ends a run.
  var reasonOfType: String? {
    guard case .unexpectedAnswer(let status, let message) = self else { return nil }
    return "it answered \(status): \(message)"
  }
}

/// What of a type is read.
protocol PhoneTask: Equatable {
  /// Everything, to find what counts cannot tell.
  static var sweep: Self { get }
}

/// What is read between two commits: committed together with the state after it.
struct PhoneStep {
  var samples: [Sample] = []
  var isLast = false
}
