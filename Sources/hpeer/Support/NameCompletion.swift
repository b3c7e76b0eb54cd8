import ArgumentParser
import Destinations
import HealthModel
import HealthOperations
import HealthStore
import OperatingSystem
import PeerTrust
import Terminal

/// The names that the Tab key offers in a shell, read from this machine's home. Completion only reads files: it
/// creates, migrates and locks nothing, and offers nothing if they cannot be read.
enum NameCompletion {
  /// Returns the machines that are pulled from.
  static func servers(_ home: Home) async throws -> [String] {
    try await PeerRegistry.inspect(in: home.url)?.servers.map(\.name) ?? []
  }

  /// Returns the machines that may read here.
  static func clients(_ home: Home) async throws -> [String] {
    try await PeerRegistry.inspect(in: home.url)?.clients.filter { $0.revoked == nil }.map(\.name) ?? []
  }

  /// Returns the types that the store has samples of; without a store, all known types.
  static func types(_ home: Home) async throws -> [String] {
    guard let store = try? HealthStore(readOnlyIn: home.directory) else {
      return SampleTypeCatalogue.healthKit.entries.map(\.shortName)
    }
    return try await store.samples.typeCounts().map(\.type.shortName)
  }

  static func sources(_ home: Home) async throws -> [String] {
    Array(try await HealthStore(readOnlyIn: home.directory).samples.sourceNames())
  }

  static func destinations(_ home: Home) async throws -> [String] { try home.settings().destinations.map(\.name) }

  static func automations(_ home: Home) async throws -> [String] {
    try Automation.all(in: try home.settings()).map(\.name)
  }

  /// Returns the names to offer, in order and without duplicates. Names that a terminal or a shell could misread are
  /// left out: other machines choose theirs.
  static func offered(_ names: [String]) -> [String] {
    Array(Set(names.filter { !$0.isEmpty && PlainText.escaped($0, limit: 1000) == $0 })).sorted()
  }

  /// Returns the ways to continue a comma-separated list of names.
  static func continuing(_ list: String, with names: [String]) -> [String] {
    guard let comma = list.lastIndex(of: ",") else { return names }
    let before = String(list[...comma])
    let taken = Set(before.split(separator: ",").map(String.init))
    return names.filter { !taken.contains($0) }.map { before + $0 }
  }

  /// Returns the home that a command line is about.
  static func home(of words: [String]) -> Home {
    var path: String?
    for (index, word) in words.enumerated() {
      if word == "--" { break }
      if word == "--home", index + 1 < words.count { path = words[index + 1] }
      if word.hasPrefix("--home=") { path = String(word.dropFirst("--home=".count)) }
    }
    return Home(path: path.flatMap { $0.isEmpty ? nil : $0 })
  }
}

extension CompletionKind {
  static let servers = names(NameCompletion.servers)
  static let clients = names(NameCompletion.clients)
  static let peers = names { home in try await NameCompletion.servers(home) + NameCompletion.clients(home) }
  static let types = names(NameCompletion.types)
  static let sources = names(NameCompletion.sources)
  static let destinations = names(NameCompletion.destinations)
  static let automations = names(NameCompletion.automations)
  static let destinationKinds = list(DestinationKinds.all.map { $0.description.kind.rawValue })

  /// The completion of comma-separated types.
  static let typeLists = custom { words, _, prefix in
    let names = (try? await NameCompletion.types(NameCompletion.home(of: words))) ?? []
    return NameCompletion.continuing(prefix, with: NameCompletion.offered(names))
  }

  private static func names(_ names: @escaping @Sendable (Home) async throws -> [String]) -> CompletionKind {
    custom { words, _, _ in
      NameCompletion.offered((try? await names(NameCompletion.home(of: words))) ?? [])
    }
  }
}
