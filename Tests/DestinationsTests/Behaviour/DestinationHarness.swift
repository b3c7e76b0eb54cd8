import Destinations
import Foundation
import HealthModel
import HealthStore

/// The setup of a kind of destination for the behaviour tests, which run against a real server.
///
/// A type that conforms to this protocol, in `Tests/DestinationsTests/KIND`, and a line in
/// ``DestinationHarnesses/all`` list a kind. All of ``DestinationBehaviourTests`` then run for it: `htest NAME
/// 'DestinationBehaviourTests'`.
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
/// A single server is started for all tests of a kind and runs until the process ends. Each test delivers to its own
/// place on the server (``HarnessPlace/name``). Settings must use `place.port`, the port of a proxy that injects
/// faults; `contents` asks the server directly.
protocol DestinationHarness: Sendable {
  associatedtype Place: Destination

  /// Starts the server.
  ///
  /// - Throws: ``HarnessUnavailable`` if a requirement is missing on this machine. The kind's tests are then skipped
  /// with a message.
  static func start() async throws -> Self

  /// The server's port on 127.0.0.1, or `nil` for a kind without a server, for which no connection faults are tested.
  var port: Int? { get }
  /// Whether the protocol is HTTP, so that a proxy can answer in the server's place.
  var speaksHTTP: Bool { get }

  /// Returns the settings for a delivery to this place, as a person would write them.
  func settings(_ place: HarnessPlace) throws -> [String: DestinationSettings.Value]
  /// The environment variables for secrets that settings name as `env:NAME`.
  var secrets: [String: String] { get }

  /// Returns `count` samples that this kind accepts, the same samples every time. The default is plain step counts.
  func samples(_ count: Int) -> [Sample]
  /// Returns the current contents of the place, read without the destination's code, as a text for each thing in any
  /// order. Duplicates are included.
  func contents(of place: HarnessPlace) async throws -> [String]
  /// Returns the contents that the place must have when exactly these samples have been delivered. The default is
  /// their UUIDs.
  func expected(_ samples: [Sample]) throws -> [String]

  /// Whether everything at a place can be deleted when the courier starts over.
  var forgets: Bool { get }

  /// Deletes everything at a place, like a server that is set up anew. Returns `false` for a kind whose contents
  /// can't be examined.
  func loseAll(at place: HarnessPlace) async throws -> Bool

  /// Makes the server reject its credentials or accept them again. Returns `false` for a kind without credentials.
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

/// The place to which a test delivers.
struct HarnessPlace: Sendable {
  /// A name unique to the test, made of lowercase letters, digits and hyphens.
  let name: String
  /// An existing directory for this test only.
  let folder: String
  /// The port on 127.0.0.1, or 0 for a kind without a server.
  var port: Int
  /// The URL scheme, which is `https` if the test uses a wrong certificate.
  var scheme = "http"
}

/// An error that a harness throws if a requirement is missing on this machine.
struct HarnessUnavailable: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
