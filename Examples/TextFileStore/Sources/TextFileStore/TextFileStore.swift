import ExternalStores
import Foundation
import HealthStore

/// A program that copies a record's heart rates to a text file and keeps the file up to date.
@main
struct TextFileStore {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.count == 2, let folder = arguments.first, let file = arguments.last else {
      print("usage: TextFileStore FOLDER_OF_THE_RECORD FILE")
      exit(2)
    }
    let manager = ExternalStoreManager(store: try HealthStore(directory: folder, create: false))
    try await manager.addObjectTypes([HeartRateLine.self], externalStore: TextFile(URL(filePath: file)))
    try await manager.execute()
    print("\(file) is up to date.")
  }
}
