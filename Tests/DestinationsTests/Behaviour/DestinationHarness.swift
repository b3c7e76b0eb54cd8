import Destinations
import Foundation
import HealthModel
import HealthStore

/// What the suite of behaviours must know of a kind of destination, to hold it against the real other side.
///
/// To list a kind: write a type that conforms to this, in `Tests/DestinationsTests/KIND`, and add a line to
/// ``DestinationHarnesses/all``. It gets all of ``DestinationBehaviourTests``: `htest NAME 'DestinationBehaviourTests'`.
///
/// ```swift
/// struct ParcelHarness: DestinationHarness {
///   typealias Place = ParcelDestination
///   let server: ServerProcess
///   var port: Int? { server.port }
///
///   static func start() async throws -> Self {
///     guard let program = CommandRunner.path(of: "parceld") else { throw HarnessUnavailable("parceld is not installed") }
///     return Self(server: try await onThread { _ in try ServerProcess(program, [], until: "listening on ") })
///   }
///   func settings(_ place: HarnessPlace) -> [String: DestinationSettings.Value] {
///     ["url": .text("\(place.scheme)://localhost:\(place.port)/\(place.name)/")]
///   }
///   func contents(of place: HarnessPlace) async throws -> [String] { … }  // UUIDs, as they are in upper case
/// }
/// ```
///
/// One server is started for all tests of a kind, and lives as long as the process; each test delivers to a place of its own
/// in it (``HarnessPlace/name``). Settings must lead to `place.port`, which is that of a proxy that breaks what a test wants
/// broken, while `contents` asks the server itself.
protocol DestinationHarness: Sendable {
  associatedtype Place: Destination

  /// Starts the other side. Throws ``HarnessUnavailable`` where what it needs is not on this machine: its tests are passed
  /// over then, with a message.
  static func start() async throws -> Self

  /// Where the server listens on 127.0.0.1; `nil` of a kind that has none, for which no wire is broken.
  var port: Int? { get }
  /// Whether it is spoken to over HTTP, so that a proxy can answer in the server's place.
  var speaksHTTP: Bool { get }

  /// What a person would write to have records delivered to this place.
  func settings(_ place: HarnessPlace) throws -> [String: DestinationSettings.Value]
  /// The environment's variables, for secrets that settings name as `env:NAME`.
  var secrets: [String: String] { get }

  /// `count` samples that this kind takes, the same ones every time. Plain step counts by default.
  func samples(_ count: Int) -> [Sample]
  /// What is there now, read by other means than the destination's: a text for each thing, in any order. What is there twice
  /// is in it twice.
  func contents(of place: HarnessPlace) async throws -> [String]
  /// What must be there when these samples have been delivered and nothing else is left. Their UUIDs by default.
  func expected(_ samples: [Sample]) throws -> [String]

  /// Whether everything at a place can be forgotten when the courier starts over.
  var forgets: Bool { get }

  /// Takes all away that is at a place, as a server does that is set up anew; `false` of a kind that cannot be asked what it has.
  func loseAll(at place: HarnessPlace) async throws -> Bool

  /// Has the server refuse what it is given as credentials, or accept it again; `false` where there are none.
  func setCredentials(areValid: Bool) async throws -> Bool
}

extension DestinationHarness {
  var port: Int? { nil }
  var speaksHTTP: Bool { port != nil }
  var secrets: [String: String] { [:] }

  var forgets: Bool { true }

  func samples(_ count: Int) -> [Sample] { DestinationHarnesses.steps(count) }
  func expected(_ samples: [Sample]) throws -> [String] { samples.map(\.uuid.uuidString) }
  func loseAll(at place: HarnessPlace) async throws -> Bool { false }
  func setCredentials(areValid: Bool) async throws -> Bool { false }
}

/// Where one test delivers to.
struct HarnessPlace: Sendable {
  /// Of this test only: lower-case letters, digits and hyphens.
  let name: String
  /// A folder of this test's own, that is there.
  let folder: String
  /// On 127.0.0.1; 0 of a kind without a server.
  var port: Int
  /// `https` where the test shows a wrong certificate.
  var scheme = "http"
}

/// What a harness needs is not on this machine.
struct HarnessUnavailable: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
