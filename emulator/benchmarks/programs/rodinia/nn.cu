// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// The nearest places of a table: distances on the device, the smallest ones on the host.
#include "../common/check.h"
#include <algorithm>
#include <string>
#include <vector>

#define DEFAULT_THREADS_PER_BLOCK 256
#define RESULTS 8

typedef struct latLong {
    float lat;
    float lng;
} LatLong;

typedef struct record {
    std::string name;
    float distance;
    bool operator<(const record &other) const { return distance < other.distance; }
} Record;

__global__ void euclid(LatLong *d_locations, float *d_distances, int numRecords, float lat, float lng)
{
    int globalId = blockDim.x * (gridDim.x * blockIdx.y + blockIdx.x) + threadIdx.x;
    LatLong *latLong = d_locations + globalId;
    if (globalId < numRecords) {
        float *dist = d_distances + globalId;
        *dist = (float)sqrt((lat - latLong->lat) * (lat - latLong->lat) + (lng - latLong->lng) * (lng - latLong->lng));
    }
}

int loadData(std::vector<Record> &records, std::vector<LatLong> &locations, int count)
{
    unsigned seed = 13;
    for (int i = 0; i < count; i++) {
        LatLong place = {(next_random(&seed) % 1800) / 10.0f - 90, (next_random(&seed) % 3600) / 10.0f - 180};
        records.push_back(Record());
        records.back().name = "place " + std::to_string(i);
        locations.push_back(place);
    }
    return (int)records.size();
}

int main(int argc, char *argv[])
{
    std::vector<Record> records;
    std::vector<LatLong> locations;
    float lat = 30, lng = 90, *distances, *d_distances;
    int numRecords = loadData(records, locations, 4000);

    cudaDeviceProp deviceProp;
    cudaGetDeviceProperties(&deviceProp, 0);
    cudaThreadSynchronize();
    unsigned long maxGridX = deviceProp.maxGridSize[0];
    unsigned long blocks = DIVIDE_UP(numRecords, DEFAULT_THREADS_PER_BLOCK);
    unsigned long gridY = DIVIDE_UP(blocks, maxGridX), gridX = DIVIDE_UP(blocks, gridY);
    dim3 gridDim(gridX, gridY);

    LatLong *d_locations = to_device(&locations[0], numRecords);
    gpuErrchk(cudaHostAlloc((void **)&distances, sizeof(float) * numRecords, cudaHostAllocDefault));
    gpuErrchk(cudaMalloc((void **)&d_distances, sizeof(float) * numRecords));
    euclid<<<gridDim, DEFAULT_THREADS_PER_BLOCK>>>(d_locations, d_distances, numRecords, lat, lng);
    cudaThreadSynchronize();
    gpuErrchk(cudaMemcpy(distances, d_distances, sizeof(float) * numRecords, cudaMemcpyDeviceToHost));

    int mismatches = 0;
    for (int i = 0; i < numRecords; i++) {
        float expected = hypotf(lat - locations[i].lat, lng - locations[i].lng);
        mismatches += !(fabsf(expected - distances[i]) <= 1e-4f * expected + 1e-5f);
        records[i].distance = distances[i];
    }
    std::partial_sort(records.begin(), records.begin() + RESULTS, records.end());
    for (int i = 0; i < RESULTS; i++) printf("%s --> Distance=%f\n", records[i].name.c_str(), records[i].distance);
    cudaFreeHost(distances);
    return report("nn", mismatches);
}
