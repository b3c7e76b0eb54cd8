import HealthModel
import HealthStore
import PeerProtocol

/// A reader of one app's phones: it plans what to read in which order, and knows how to read one type.
protocol PhoneReader {
  associatedtype Position: PhonePosition
  associatedtype Walk: PhoneWalk where Walk.State == Position.TypeState

  /// The road recorded with the samples it reads.
  static var road: SampleRoad { get }

  var limits: ClientLimits { get }
  var clock: any Clock<Duration> { get }
  var now: Timestamp { get }
  /// The number of bytes of received bodies.
  var bytesReceived: Int { get }
  var requests: Int { get }

  /// Returns the number of seconds to wait before a followed phone is polled again. No app can hold a request.
  ///
  /// - Parameter wait: the number of seconds for which a server may hold a request.
  func pause(_ wait: Int) -> Int

  /// Returns what to read in one run, in this order, and the types that the phone has. Also updates the position with
  /// what the dialect keeps of that.
  func plan(_ position: inout Position, _ request: PhoneRequest) async throws -> PhonePlan<Walk>

  /// Creates the walk of a step.
  ///
  /// - Parameter sender: the sender whose unlisted samples are searched for; `nil` to search for none.
  func walk(
    _ step: PhonePlan<Walk>.Step, from state: Position.TypeState, into store: HealthStore, sender: String?
  ) -> Walk
}

/// The scope of one run.
struct PhoneRequest {
  /// The types to read; empty for all.
  var types: Set<SampleType>
  /// Whether only new samples are read.
  var isHurried: Bool
  /// Whether samples that are no longer listed are searched for.
  var infersDeletions: Bool
}

/// The steps of one run.
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

/// A step-by-step reader of one type of a phone's record.
protocol PhoneWalk {
  associatedtype AppType: PhoneType
  associatedtype Task: PhoneTask
  associatedtype State: PhoneTypeState

  var type: AppType { get }
  /// The state after the steps taken so far.
  var state: State { get }
  /// The number of samples on the phone, as far as known.
  var total: Int? { get }
  /// The samples that the phone no longer lists, if everything was read without interruption; else `nil`.
  var missing: [Sample]? { get }
  /// Whether the phone returned nothing of what it returned before: it is locked, or its owner has revoked access.
  var isWithdrawn: Bool { get }

  /// Performs the next step, or returns a last step if there is no more work.
  mutating func next() async throws -> PhoneStep
}

/// A sample type with the app's name for it.
protocol PhoneType {
  var name: String { get }
  var type: SampleType { get }
}

extension PeerError {
  /// The reason why an app could not send one type, if other types may still be read; `nil` for an error that ends
  /// the run.
  var reasonOfType: String? {
    guard case .unexpectedAnswer(let status, let message) = self else { return nil }
    return "it answered \(status): \(message)"
  }
}

/// The task of a walk.
protocol PhoneTask: Equatable {
  /// Read everything, to find what counts cannot show.
  static var sweep: Self { get }
}

/// The samples read between two commits, committed together with the state after them.
struct PhoneStep {
  var samples: [Sample] = []
  var isLast = false
}
