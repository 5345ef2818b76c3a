// Debian 12's Vulkan headers (1.3.239) lack VK_EXT_layer_settings (1.3.272), the one thing that llama.cpp's Vulkan
// backend names without asking whether the headers have it. It is used for the validation layer only, and where that
// is absent a loader skips the structure.
#pragma once

#include_next <vulkan/vulkan.hpp>

#ifndef VK_EXT_layer_settings
#include <vector>

namespace vk {
enum class LayerSettingTypeEXT { eBool32 = 0 };

struct LayerSettingEXT {
    const char * pLayerName;
    const char * pSettingName;
    LayerSettingTypeEXT type;
    uint32_t valueCount;
    const void * pValues;
};

struct LayerSettingsCreateInfoEXT {
    explicit LayerSettingsCreateInfoEXT(const std::vector<LayerSettingEXT> & settings)
        : settingCount(static_cast<uint32_t>(settings.size())), pSettings(settings.data()) {}

    VkStructureType sType = static_cast<VkStructureType>(1000496000);
    const void * pNext = nullptr;
    uint32_t settingCount;
    const LayerSettingEXT * pSettings;
};
} // namespace vk
#endif
